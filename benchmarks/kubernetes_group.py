"""A whole `mlecore run` with very many runs in a simulated cluster: what a controller costs while nothing happens.

    python benchmarks/kubernetes_group.py --kwok BINARY [--nodes 500] [--runs 1000] [--idle 120]

As kubernetes_scale.py, which says what KUBECONFIG must name; but all of the controller works: plan, records, journal,
polling, report. Once every run is at work, the process is measured while nothing happens. Then somebody
deletes all Jobs: nothing runs in the pods, so every run ends as lost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kubernetes_jobs import memory
from kubernetes_scale import namespace, options, simulated
from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster

import mlecore
from mlecore.backends import Dataset
from mlecore.competitions import competition
from mlecore.controller.state import ActiveRun
from mlecore.data import DataDirs, open_prepared
from mlecore.runs.record import RunRecord

COMPETITION = "spaceship-titanic"


class Requests:
    """All that this process sends, by verb and kind."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        count = Cluster.count

        def counted(cluster: Cluster, verb: str, path: str) -> None:
            count(cluster, verb, path)
            self.sent.update([verb])

        Cluster.count = counted  # type: ignore[method-assign]


class Display:
    """Notes when all runs are at work."""

    def __init__(self, count: int) -> None:
        self._left = count
        self.all_at_work = threading.Event()

    def changed(self, record: RunRecord, report: object) -> None:
        return

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None:
        runs = sum(each.status is not None and each.status.phase == "running" for each in active)
        if runs >= self._left:
            self.all_at_work.set()

    def say(self, text: str) -> None:
        print(time.strftime("%H:%M:%S"), text, flush=True)


def measured(requests: Requests) -> dict[str, Any]:
    """This process now."""
    return {
        "CPU seconds": time.process_time(),
        "requests": requests.sent.total(),
        "MiB": memory(),
        "threads": threading.active_count(),
        "file descriptors": len(list(Path("/proc/self/fd").iterdir())),
    }


def prepared(data: Path) -> Dataset:
    subprocess.run(
        [sys.executable, "-m", "mlecore", "prepare", COMPETITION, "--synthetic", "--data", data],
        check=True,
        capture_output=True,
    )
    found = open_prepared(competition(COMPETITION), DataDirs.of([data]), synthetic=True)
    return Dataset(competition=found.competition, edition=found.edition, public=found.public, digest=found.digest)


def mean(before: dict[str, Any], after: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What a second took between two measurements; the rest as it was then."""
    rates = {
        "cores": round((after["CPU seconds"] - before["CPU seconds"]) / seconds, 3),
        "requests a second": round((after["requests"] - before["requests"]) / seconds, 2),
    }
    return {"seconds": round(seconds, 1), **rates, **{name: after[name] for name in list(after)[2:]}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kwok", type=Path, required=True)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--idle", type=float, default=120)
    given = parser.parse_args()
    requests, display, figures = Requests(), Display(given.runs), {}
    backend_options = {**options(), "image": "image", "helper": "helper"}
    cluster = Cluster(namespace=backend_options["namespace"])
    with (
        tempfile.TemporaryDirectory() as text,
        simulated(cluster, given.kwok, given.nodes, 24 * 3600.0, folder := Path(text)),
    ):
        dataset = prepared(folder / "data")
        claimed = {
            "name": names.data(dataset),
            "annotations": {names.LOADED: dataset.digest},
            "labels": {names.ROLE: "data"},
        }
        with namespace(cluster, claimed):

            def watch() -> None:
                begun, start = time.monotonic(), measured(requests)
                display.all_at_work.wait()
                ready, idle = time.monotonic(), measured(requests)
                figures["starting"] = mean(start, idle, ready - begun)
                time.sleep(given.idle)
                figures["at work"] = mean(idle, measured(requests), time.monotonic() - ready)
                print(json.dumps(figures, indent=1), flush=True)
                for each in list(cluster.items(cluster.path("jobs"))):
                    cluster.delete(cluster.path("jobs", each["metadata"]["name"]), propagationPolicy="Background")

            threading.Thread(target=watch, daemon=True).start()
            began, before = time.monotonic(), measured(requests)
            records = mlecore.run(
                agent="dummy",
                competition=COMPETITION,
                synthetic=True,
                seeds=given.runs,
                gpus=1,
                backend="kubernetes",
                backend_options=backend_options,
                max_parallel=given.runs,
                retries=0,
                runs=folder / "runs",
                data=folder / "data",
                display=display,
            )
            figures["all"] = mean(before, measured(requests), time.monotonic() - began)
            figures["states"] = Counter(record.state for record in records)
            figures["reasons"] = Counter(record.reason for record in records)
            print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
