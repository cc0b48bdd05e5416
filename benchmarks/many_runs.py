"""What a controller costs: CPU and memory for many runs of an agent that exits at once; how fast big groups are.

    python benchmarks/many_runs.py [--runs 1000] [--parallel 8] [--backend vm|folders] [--planned 10000]

`folders` is the imagined backend of the tests: it shows the controller alone. `vm` is this machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = ROOT / "tests" / "controller" / "installed"


def rss() -> float:
    """MB of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Watch:
    """Notes memory as runs are settled, and when the first one began."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.first: float | None = None
        self.memory: list[tuple[int, float]] = []
        self.settled = 0
        self.on_first = lambda: None

    def changed(self, record, report) -> None:
        if self.first is None and record.state == "running":
            self.first = time.monotonic() - self.began
            self.on_first()
        if record.settled:
            self.settled += 1
            if self.settled % 100 == 0 or self.settled == 20:
                self.memory.append((self.settled, rss()))

    def tick(self, live, counts: Counter, waiting: int) -> None:
        return

    def say(self, text: str) -> None:
        print("  ", text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--backend", choices=("vm", "folders"), default="folders")
    parser.add_argument("--planned", type=int, default=10_000)
    options = parser.parse_args()
    sys.path.insert(0, str(INSTALLED))
    os.environ["PYTHONPATH"] = str(INSTALLED)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        os.environ["MLECORE_VM_STATE"] = str(root / "vm")
        settle_many(root, options.runs, options.parallel, options.backend)
        list_many(root, options.runs)
        start_big_group(root, options.planned)


def plan_of(root: Path, agent: str, settings: dict[str, str], seeds: int, parallel: int, backend: str):
    from mlecore.runs.planning import make_plan

    (root / "backend" / "jobs").mkdir(parents=True, exist_ok=True)
    options = {"root": str(root / "backend"), "cpus": "64"} if backend == "folders" else {}
    return make_plan(
        {
            "agents": [{"name": agent, "options": settings}],
            "competitions": ["coins"],
            "seeds": seeds,
            "backend": {"name": backend, "options": options},
            "limits": {"time": 600, "cpus": 0.1},
            "execution": {"max_parallel": parallel, "detect": False},
        }
    )


def settle_many(root: Path, runs: int, parallel: int, backend: str) -> None:
    from mlecore.controller.api import run_group

    if backend == "folders":
        plan = plan_of(root, "worker", {}, runs, parallel, backend)
    else:
        plan = plan_of(root, "command", {"argv": "true"}, runs, parallel, backend)
    watch = Watch()
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    done = run_group(plan, "many", root / "runs", [root / "data"], watch)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert done.outcome.complete, done.outcome
    print(
        f"{runs} runs on {backend}, {parallel} at a time: {wall:.1f} s, "
        f"{1000 * cpu / runs:.1f} ms CPU of the controller a run"
    )
    print("memory (runs settled: MB): " + ", ".join(f"{count}: {mb:.0f}" for count, mb in watch.memory))


def list_many(root: Path, runs: int) -> None:
    for more in (["--state", "failed"], ["many"]):
        print(f"`mlecore runs list {' '.join(more)}` over {runs} settled runs: {listed(root, *more):.2f} s")


def listed(root: Path, *more: str) -> float:
    """Seconds that `mlecore runs list` takes."""
    command = [sys.executable, "-m", "mlecore.cli", "runs", "list", "--runs", str(root / "runs"), *more]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def start_big_group(root: Path, planned: int) -> None:
    from mlecore.controller.api import run_group
    from mlecore.runs.store import load_group

    plan = plan_of(root, "worker", {"seconds": "60"}, planned, 8, "folders")
    watch = Watch()
    watch.on_first = lambda: threading.Timer(0.2, lambda: os.kill(os.getpid(), 2)).start()
    done = run_group(plan, "big", root / "runs", [root / "data"], watch)
    print(f"a group of {planned} planned runs: the first one is at work after {watch.first:.2f} s")
    began = time.monotonic()
    count = len(load_group(done.group.folder))
    inside = time.monotonic() - began
    print(
        f"its {count} runs listed in {inside:.2f} s by load_group, {listed(root, 'big'):.2f} s by `mlecore runs list`"
    )


if __name__ == "__main__":
    main()
