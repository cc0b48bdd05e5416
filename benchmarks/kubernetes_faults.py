"""Breaks a cluster under runs, one fault after the other, and says what became of each run.

    python benchmarks/kubernetes_faults.py --pids FOLDER --up COMMAND [-B name=value]... [--only FAULT]...

FOLDER holds the process id of each of the cluster's servers as NAME.pid; COMMAND brings back those that are gone. For a
cluster of one node and your own only: it kills and stops its servers, drains its node and fills its GPUs.

A cluster gives up the pods of a lost node after five minutes, unless they tolerate less:
    -B 'tolerations=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "operator": "Exists",
                      "tolerationSeconds": 5}]'
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlecore.backends import JobStatus
from mlecore.errors import BackendUnreachable
from mlecore.options import pairs
from mlecore.registry import load
from mlecore.testing.backends.harness import BackendBench, files

SECONDS = 25  # that a run of these works
LOST = 200  # seconds: until the cluster gives up a node's pods (shorter with a toleration), and we do
PREEMPTED = "preempted"
SCRIPT = f"echo begun; echo 1 >submission/submission.csv; sleep {SECONDS}; echo 2 >>submission/submission.csv"


class Cluster:
    """The servers of a cluster, to be broken."""

    def __init__(self, pids: Path, up: str) -> None:
        self._pids = pids
        self._up = up

    def signal(self, name: str, number: int) -> None:
        os.kill(int((self._pids / f"{name}.pid").read_text()), number)

    def kill(self, name: str, seconds: float) -> None:
        self.signal(name, signal.SIGKILL)
        time.sleep(seconds)
        self.up()

    def stop(self, name: str, seconds: float) -> None:
        self.signal(name, signal.SIGSTOP)
        time.sleep(seconds)
        self.signal(name, signal.SIGCONT)

    def up(self) -> None:
        subprocess.run(self._up, shell=True, check=True, capture_output=True)

    def kubectl(self, *words: str) -> str:
        return subprocess.run(["kubectl", *words], check=True, capture_output=True, text=True).stdout

    def drain(self) -> None:
        node = self.kubectl("get", "nodes", "-o", "name").split()[0]
        ours = "--pod-selector=mlecore.org/role"  # the cluster's own pods have no other node to go to
        try:
            self.kubectl("drain", node, ours, "--delete-emptydir-data", "--force", "--timeout=120s")
            time.sleep(5)
        finally:
            self.kubectl("uncordon", node)

    def preempt(self) -> None:
        """A pod of higher priority that needs all GPUs."""
        path = "jsonpath={.items[0].status.allocatable.nvidia\\.com/gpu}"
        gpus = {"nvidia.com/gpu": self.kubectl("get", "nodes", "-o", path)}
        container = {"name": "any", "image": "none", "resources": {"limits": gpus}}
        spec = {"priorityClassName": "system-cluster-critical", "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "more-important"}, "spec": spec}
        create = ["kubectl", "create", "-f", "-"]
        subprocess.run(create, input=json.dumps(pod), text=True, check=True, capture_output=True)
        time.sleep(30)
        self.kubectl("delete", "pod", "more-important", "--force", "--grace-period=0")


def faults(cluster: Cluster) -> dict[str, Callable[[], None]]:
    return {
        "nothing": lambda: None,
        "API server away for 30 s": lambda: cluster.kill("kube-apiserver", 30),
        "etcd stopped for 20 s": lambda: cluster.stop("etcd", 20),
        "kubelet killed": lambda: cluster.kill("kubelet", 10),
        "containerd restarted": lambda: cluster.kill("containerd", 1),
        "controller manager killed": lambda: cluster.kill("kube-controller-manager", 5),
        "scheduler killed": lambda: cluster.kill("kube-scheduler", 5),
        "registry killed": lambda: cluster.kill("registry", 5),
        "node drained and cordoned": cluster.drain,
        "node lost": lambda: cluster.stop("kubelet", LOST),
        PREEMPTED: cluster.preempt,
    }


def one(bench: BackendBench, fault: Callable[[], None], gpus: int) -> str:
    """Break the cluster under a run; how the run ended, and whether its files came home."""
    job = bench.job(SCRIPT, time_limit=300.0, gpus=gpus)
    handle = patiently(lambda: bench.start(job))
    while b"begun" not in patiently(lambda: bench.output(handle)):
        time.sleep(0.5)
    breaking = threading.Thread(target=fault)
    breaking.start()
    unreachable, status = 0, None
    began = time.monotonic()
    while status is None or status.phase not in ("exited", "gone"):
        try:
            status = bench.status(handle)
        except BackendUnreachable:
            unreachable += 1
        if time.monotonic() - began > 400:
            return f"FAILED: still {status}"
        time.sleep(0.5)
    breaking.join()
    took = time.monotonic() - began
    content = patiently(lambda: files(bench.fetch(handle, "submission")[0])).get("submission/submission.csv")
    patiently(lambda: bench.backend.remove(handle))
    return f"{verdict(status, content)}; ended after {took:.0f} s, {unreachable} questions without an answer"


def verdict(status: JobStatus, content: bytes | None) -> str:
    if status.exit_code == 0 and content == b"1\n2\n":
        return "ran to its end, all there"
    if status.infra_failure and content is not None:
        return f"to be retried ({status.reason}), its files are there"
    return f"FAILED: {status}, {content!r}"


def patiently(step: Callable[[], Any]) -> Any:
    """As the controller does: a cluster that does not answer is asked again."""
    for _ in range(60):
        try:
            return step()
        except BackendUnreachable:
            time.sleep(2)
    raise SystemExit("the cluster does not come back")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pids", type=Path, required=True)
    parser.add_argument("--up", required=True)
    parser.add_argument("-B", dest="options", action="append", default=[])
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    cluster = Cluster(given.pids, given.up)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        bench = BackendBench(load("backend", "kubernetes"), pairs(given.options, "-B"), Path(folder))
        try:
            for name, fault in faults(cluster).items():
                if not given.only or name in given.only:
                    words = one(bench, fault, gpus=int(name == PREEMPTED))
                    failed |= words.startswith("FAILED")
                    print(f"{name:28} {words}", flush=True)
        finally:
            cluster.up()
            bench.clean_up()
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
