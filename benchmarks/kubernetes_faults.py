"""Breaks a cluster under groups of runs, one fault after the other, and says what became of them.

    python benchmarks/kubernetes_faults.py --pids FOLDER --up COMMAND [-B NAME=VALUE]... [--only FAULT]...

Each group is one `mlecore run`. Its runs must all be graded: in one attempt where the fault is none of their doing and
ends nobody, in a second one where the cluster took their pod away. Nothing of the group may be left in the cluster.

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
from collections.abc import Callable, Sequence
from pathlib import Path

from _measure import python
from attrs import frozen

from mlecore.runs.record import RunRecord
from mlecore.runs.store import grade_of, load_group

MLECORE = "from mlecore.cli import main; main()"
RUNS = 2
WORKS = "echo begun; cp /opt/mlecore/sample.csv submission/submission.csv; sleep 25; echo done"
GREEDY = (
    "cp /opt/mlecore/sample.csv submission/submission.csv; sleep 5; head -c 900000000 /dev/zero | tail -n 1; exit 9"
)
LOST = 200  # seconds: until the cluster gives up a node's pods (shorter with a toleration), and we do
KINDS = "jobs,pods,configmaps,secrets,persistentvolumeclaims,services,networkpolicies,replicasets"
PATIENCE = 900  # seconds for a group


class Cluster:
    """The servers of a cluster, to be broken."""

    def __init__(self, pids: Path, up: str, namespace: str) -> None:
        self._pids = pids
        self._up = up
        self._namespace = namespace

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

    def kubectl(self, *words: str, given: str | None = None) -> str:
        argv = ["kubectl", "-n", self._namespace, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, input=given).stdout

    def agents(self) -> list[str]:
        """Names of the pods in which agents are at work."""
        selector = ("-l", "mlecore.org/role=agent", "--field-selector", "status.phase=Running")
        return self.kubectl("get", "pods", *selector, "-o", "name").split()

    def left(self, group: str) -> list[str]:
        return self.kubectl("get", KINDS, "-l", f"mlecore.org/group={group}", "-o", "name").split()

    def delete(self) -> None:
        self.kubectl("delete", *self.agents())

    def evict(self) -> None:
        for name in self.agents():
            pod = name.partition("/")[2]
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
            path = f"/api/v1/namespaces/{self._namespace}/pods/{pod}/eviction"
            self.kubectl("create", "--raw", path, "-f", "-", given=json.dumps(eviction))

    def drain(self) -> None:
        node = self.kubectl("get", "nodes", "-o", "name").split()[0]
        ours = "--pod-selector=mlecore.org/role"  # the cluster's own pods have no other node to go to
        try:
            self.kubectl("drain", node, ours, "--delete-emptydir-data", "--force", "--timeout=120s")
            time.sleep(15)
        finally:
            self.kubectl("uncordon", node)

    def preempt(self) -> None:
        """A pod of higher priority that needs all GPUs."""
        path = "jsonpath={.items[0].status.allocatable.nvidia\\.com/gpu}"
        gpus = {"nvidia.com/gpu": self.kubectl("get", "nodes", "-o", path)}
        rights = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        container = {"name": "any", "image": "none", "resources": {"limits": gpus}, "securityContext": rights}
        user = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
        spec = {"priorityClassName": "system-cluster-critical", "containers": [container], "securityContext": user}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "more-important"}, "spec": spec}
        self.kubectl("create", "-f", "-", given=json.dumps(pod))
        time.sleep(30)
        self.kubectl("delete", "pod", "more-important", "--force", "--grace-period=0")


@frozen(kw_only=True)
class Fault:
    """Something that breaks, and what it may do to a run."""

    act: Callable[[], None] = lambda: None
    attempts: int = 1  # that each run takes
    early: bool = False  # before the group begins, not while its agents work
    kills: bool = False  # the controller goes, too, and the group is resumed
    script: str = WORKS
    words: Sequence[str] = ()  # of `mlecore run`


def faults(cluster: Cluster) -> dict[str, Fault]:
    return {
        "nothing": Fault(),
        "pod deleted": Fault(act=cluster.delete, attempts=2),
        "pod evicted": Fault(act=cluster.evict, attempts=2),
        "out of memory": Fault(script=GREEDY, words=("--memory", "200MiB")),
        "node drained and cordoned": Fault(act=cluster.drain, attempts=2),
        "kubelet killed": Fault(act=lambda: cluster.kill("kubelet", 10)),
        "API server away for 60 s": Fault(act=lambda: cluster.kill("kube-apiserver", 60)),
        "etcd stopped for 20 s": Fault(act=lambda: cluster.stop("etcd", 20)),
        "containerd restarted": Fault(act=lambda: cluster.kill("containerd", 1)),
        "policies' enforcer killed": Fault(act=lambda: cluster.kill("netpol", 10)),
        "registry away": Fault(act=lambda: cluster.kill("registry", 20), early=True),
        "controller manager killed": Fault(act=lambda: cluster.kill("kube-controller-manager", 5)),
        "scheduler killed": Fault(act=lambda: cluster.kill("kube-scheduler", 5), early=True),
        "controller killed": Fault(kills=True),
        "controller killed as pods go": Fault(kills=True, act=cluster.delete, attempts=2),
        "preempted": Fault(act=cluster.preempt, attempts=2, words=("--gpus", "1")),
        "node lost": Fault(act=lambda: cluster.stop("kubelet", LOST), attempts=2),
    }


class Lab:
    """Groups of runs, with data and a folder of their own."""

    def __init__(self, folder: Path, cluster: Cluster, options: Sequence[str]) -> None:
        self._folder = folder
        self._cluster = cluster
        self._words = ["--backend", "kubernetes", *(word for option in options for word in ("-B", option))]
        self._env = {**os.environ, "MLECORE_DATA": str(folder / "data"), "MLECORE_RUNS": str(folder / "runs")}
        subprocess.run(python(MLECORE, "prepare", "optical-digits"), env=self._env, check=True, capture_output=True)

    def endure(self, name: str, fault: Fault) -> str:
        """Break the cluster under a group; what became of it."""
        group = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
        (self._folder / "agent.sh").write_text(fault.script)
        agent = ["--agent", "command", "-A", "argv=sh agent.sh", "--competition", "optical-digits"]
        words = ["run", *agent, *self._words, "--seeds", str(RUNS), "--max-parallel", str(RUNS)]
        words += ["--time-limit", "5m", "--no-detect", "--group", group, *fault.words]
        breaking = threading.Thread(target=fault.act)
        began = time.monotonic()
        if fault.early:
            breaking.start()
        controller = self._begin(group, words)
        if not fault.early:
            self._await_agents()
            breaking.start()
        if fault.kills:
            controller.kill()
            controller.wait()
            time.sleep(5)
            controller = self._begin(group, ["runs", "resume", group])
        try:
            code = controller.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            controller.kill()
            code = -1
        breaking.join()
        return f"{self._verdict(group, fault, code)}; {time.monotonic() - began:.0f} s"

    def _begin(self, group: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._folder / f"{group}.log").open("ab") as out:
            argv = python(MLECORE, *words)
            return subprocess.Popen(argv, cwd=self._folder, env=self._env, stdout=out, stderr=subprocess.STDOUT)

    def _await_agents(self) -> None:
        deadline = time.monotonic() + 300
        while len(self._cluster.agents()) < RUNS:
            if time.monotonic() > deadline:
                raise SystemExit("the agents do not begin")
            time.sleep(0.5)
        time.sleep(3)

    def _verdict(self, group: str, fault: Fault, code: int) -> str:
        problems: list[str] = []
        records = load_group(self._folder / "runs" / group, problems)
        attempts = [len(record.attempts) for record in records]
        graded = [record for record in records if record.state == "graded" and _valid(record)]
        left = self._left(records)
        good = code == 0 and not problems and not left and len(graded) == RUNS and attempts == [fault.attempts] * RUNS
        reasons = {attempt.reason for record in records for attempt in record.attempts if attempt.reason}
        words = f"{len(graded)} of {RUNS} graded, in {attempts} attempts"
        words += f" ({'; '.join(sorted(reasons))})" if reasons else ""
        return words if good else f"FAILED: {words}, exit code {code}, left: {left}, {problems}"

    def _left(self, records: Sequence[RunRecord]) -> list[str]:
        """What the cluster has of the group after half a minute, in which a kubelet may still end a pod."""
        (group,) = {record.group_uid for record in records}
        deadline = time.monotonic() + 30
        while (left := self._cluster.left(group)) and time.monotonic() < deadline:
            time.sleep(1)
        return left


def _valid(record: RunRecord) -> bool:
    return bool((grade_of(record.folder) or {}).get("valid_submission"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pids", type=Path, required=True)
    parser.add_argument("--up", required=True)
    parser.add_argument("--namespace", default="default")
    parser.add_argument("-B", dest="options", action="append", default=[])
    parser.add_argument("--only", action="append")
    parser.add_argument("--folder", type=Path, help="keeps data, runs and logs")
    given = parser.parse_args()
    cluster = Cluster(given.pids, given.up, given.namespace)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab((given.folder or Path(folder)).absolute(), cluster, [f"namespace={given.namespace}", *given.options])
        try:
            for name, fault in faults(cluster).items():
                if not given.only or name in given.only:
                    words = lab.endure(name, fault)
                    failed |= words.startswith("FAILED")
                    print(f"{name:28} {words}", flush=True)
        finally:
            cluster.up()
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
