"""Many short runs in a cluster: seconds of overhead each, requests to the API server, CPU and memory of the controller.

    python benchmarks/kubernetes_jobs.py --runs 200 --at-once 10 -B registry=HOST [--compare]

``--compare`` makes the same Jobs with `kubectl create` too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend
from mlecore_testing.backends.harness import BackendBench

from mlecore.backends import Backend, Handle, Job
from mlecore.options import pairs
from mlecore.registry.loading import load

THREADS = 4  # that start runs, and as many that collect and remove them, as in a controller


class Runs:
    """Starts, watches, collects and removes runs, so many at once."""

    def __init__(self, backend: Backend, job: Callable[[], Job], collect: Callable[[Handle], object]) -> None:
        self._backend = backend
        self._job = job
        self._collect = collect
        self.most = 0
        self.ended = 0
        self.failed = 0
        self._said = 0  # tenths that have ended

    def all(self, count: int, at_once: int) -> None:
        alive: dict[Handle, None] = {}
        lock = threading.Lock()
        begun = 0
        with ThreadPoolExecutor(THREADS) as starting, ThreadPoolExecutor(THREADS) as finishing:
            working: set[Future[Any]] = set()

            def start() -> None:
                handle = self._backend.start(self._job())
                with lock:
                    alive[handle] = None

            while self.ended < count:
                working = {each for each in working if not (each.done() and each.result() is None)}
                while begun < count and begun - self.ended < at_once:
                    working.add(starting.submit(start))
                    begun += 1
                with lock:
                    handles = list(alive)
                statuses = self._backend.status(handles)
                self.most = max(self.most, sum(status.phase == "running" for status in statuses.values()))
                over = [handle for handle, status in statuses.items() if status.phase in ("exited", "gone")]
                for handle in over:
                    self.failed += statuses[handle].exit_code != 0
                    with lock:
                        del alive[handle]
                    working.add(finishing.submit(self._finish, handle))
                self.ended += len(over)
                self._report(count)
                time.sleep(0.2)

    def _finish(self, handle: Handle) -> None:
        self._collect(handle)
        self._backend.remove(handle)

    def _report(self, count: int) -> None:
        step = max(1, count // 10)
        if self.ended // step != self._said:
            self._said = self.ended // step
            usage = resource.getrusage(resource.RUSAGE_SELF)
            cpu = usage.ru_utime + usage.ru_stime
            words = f"{self.ended:6} ended, {self.most:5} at once at most, {cpu:7.1f} s CPU, {memory()} MiB"
            print(f"{time.strftime('%H:%M:%S')} {words}, {threading.active_count()} threads", flush=True)


def memory() -> int:
    """Resident now, in MiB."""
    text = Path("/proc/self/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) // 1024


def collect(bench: BackendBench, handle: Handle) -> None:
    bench.fetch(handle, "submission", ".mlecore")
    bench.output(handle)


def compared(namespace: str, image: str, count: int, at_once: int) -> float:
    """Seconds for the same number of Jobs that do nothing, made and waited for with kubectl."""
    began = time.monotonic()

    def kubectl(*words: str) -> None:
        subprocess.run(["kubectl", "-n", namespace, *words], check=True, capture_output=True)

    def one(number: int) -> None:
        name = f"plain-{number}"
        kubectl("create", "job", name, f"--image={image}", "--", "true")
        kubectl("wait", "--for=condition=complete", f"job/{name}", "--timeout=120s")
        kubectl("delete", "job", name, "--wait=false")

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(count)))
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=10)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("-B", dest="options", action="append", default=[])
    given = parser.parse_args()
    options = pairs(given.options, "-B")
    with tempfile.TemporaryDirectory() as folder:
        bench = BackendBench(load("backend", "kubernetes"), options, Path(folder))
        backend = cast(KubernetesBackend, bench.backend)
        bench.image, bench.data  # noqa: B018
        before, began, cpu = Counter(backend.cluster.requests), time.monotonic(), time.process_time()
        runs = Runs(backend, lambda: bench.job("true"), lambda handle: collect(bench, handle))
        runs.all(given.runs, given.at_once)
        took, used = time.monotonic() - began, time.process_time() - cpu
        sent = backend.cluster.requests - before
        figures = {
            "runs": given.runs,
            "failed": runs.failed,
            "running at once": runs.most,
            "seconds": round(took, 1),
            "seconds a run": round(took / given.runs, 2),
            "CPU ms a run": round(1000 * used / given.runs, 1),
            "cores": round(used / took, 2),
            "requests a run": round(sent.total() / given.runs, 1),
            "requests": dict(sent.most_common()),
            "MiB": memory(),
        }
        if given.compare:
            plain = compared(backend.cluster.namespace, bench.image.ref, given.runs, given.at_once)
            figures["seconds a run with kubectl"] = round(plain / given.runs, 2)
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
