"""Very many runs in a simulated cluster: CPU, memory and API requests of the controller's side.

    python benchmarks/kubernetes_scale.py --kwok BINARY [--nodes 500] [--runs 10000] [--at-once 1000] [--seconds 200]

KUBECONFIG names a cluster with an API server, a controller manager and a scheduler. kwok (`sigs.k8s.io/kwok`, 0.8)
plays its nodes, each with 8 GPUs, and its pods, which run for so many seconds. Nothing runs in them, so no files are
fetched. Everything is made in a namespace of its own, and removed at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubernetes_jobs import Runs, memory
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend

from mlecore.backends import Dataset, Handle, Image, Job, Resources

GPUS = 8  # of a node
NAME = f"mlecore-scale-{uuid.uuid4().hex[:8]}"  # of the namespace; the nodes' begin so
MARK = {"mlecore-benchmark": NAME}  # label of the nodes

PLAYERS = {  # kwok plays four pods at a time by default: on a busy machine, pods would begin and end minutes late
    "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
    "kind": "KwokConfiguration",
    "options": {
        "podPlayStageParallelism": 32,
        "podsOnNodeSyncParallelism": 4,
        "nodePlayStageParallelism": 4,
        "nodeLeaseParallelism": 4,
    },
}
READY = """
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }},
   message: {{ .message | Quote }}, lastHeartbeatTime: {{ $now | Quote }},
   lastTransitionTime: {{ $now | Quote }}}
{{ end }}
phase: Running
"""
RUNS = """
{{ $now := Now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: true, restartCount: 0,
   state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
"""
PROBED = """
{{ $now := Now }}
containerStatuses:
- {name: probe, image: helper, imageID: "", ready: false, restartCount: 0,
   state: {terminated: {exitCode: 0, reason: Completed, finishedAt: {{ $now | Quote }}, startedAt: {{ $now | Quote }},
           message: {{ if index .metadata.labels "mlecore.org/probe" }}cut off{{ else }}reached{{ end }}}}}
phase: Succeeded
"""
ENDS = """
{{ $now := Now }}
containerStatuses:
{{ range .status.containerStatuses }}
{{ if eq .name "agent" }}
- {name: agent, image: {{ .image | Quote }}, imageID: "", ready: false, restartCount: 0,
   state: {terminated: {exitCode: 0, reason: Completed, finishedAt: {{ $now | Quote }},
           startedAt: {{ .state.running.startedAt | Quote }}}}}
{{ else }}
- {{ YAML . }}
{{ end }}
{{ end }}
"""


def stages(seconds: float) -> list[dict[str, Any]]:
    """A node is ready and a pod starts at once; its agent ends after ``seconds``, a tenth more or less.

    What probes whether policies are enforced finds that they are.
    """
    milliseconds = int(seconds * 1000)
    delay = {"durationMilliseconds": int(milliseconds * 0.9), "jitterDurationMilliseconds": int(milliseconds * 1.1)}
    deleted, phase = ".metadata.deletionTimestamp", ".status.phase"
    agent = '.status.containerStatuses.[] | select( .name == "agent" ) | .state.running'
    probe = '.metadata.labels["mlecore.org/role"]'
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return [
        _stage("ready", "Node", {"statusTemplate": READY}, {}, (ready, "NotIn", "True")),
        _stage("runs", "Pod", {"statusTemplate": RUNS}, {}, (deleted, "DoesNotExist"), (phase, "In", "Pending")),
        _stage("probed", "Pod", {"statusTemplate": PROBED}, {}, (probe, "In", "probe"), (phase, "In", "Running")),
        _stage("ends", "Pod", {"statusTemplate": ENDS}, delay, (deleted, "DoesNotExist"), (agent, "Exists")),
        _stage("goes", "Pod", {"finalizers": {"empty": False}, "delete": True}, {}, (deleted, "Exists")),
    ]


def _stage(
    name: str, kind: str, following: dict[str, Any], delay: dict[str, int], *when: tuple[str, ...]
) -> dict[str, Any]:
    expressions = [
        {"key": key, "operator": operator, **({"values": values} if values else {})} for key, operator, *values in when
    ]
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": expressions},
            "delay": delay,
            "next": following,
        },
    }


@contextmanager
def simulated(cluster: Cluster, kwok: Path, nodes: int, seconds: float, folder: Path) -> Iterator[None]:
    """The nodes, and kwok, which plays them."""
    config = folder / "kwok.yaml"
    config.write_text("\n---\n".join(map(json.dumps, [*stages(seconds), PLAYERS])))
    selector = ",".join(f"{name}={value}" for name, value in MARK.items())
    argv = [kwok, "--config", config, f"--manage-nodes-with-label-selector={selector}"]
    argv += ["--kubeconfig", _kubeconfig(folder), "--node-lease-duration-seconds=160"]
    with (folder / "kwok.log").open("wb") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log)
        try:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda number: cluster.ensure("/api/v1/nodes", _node(number)), range(nodes)))
            yield
        finally:
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda number: cluster.delete(f"/api/v1/nodes/{_name(number)}"), range(nodes)))
            process.terminate()
            process.wait(30)


def _kubeconfig(folder: Path) -> Path:
    """The configuration that we use, in one file."""
    found = subprocess.run(["kubectl", "config", "view", "--raw", "--minify"], check=True, capture_output=True)
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_bytes(found.stdout)
    return path


def _name(number: int) -> str:
    return f"{NAME}-{number}"


def _node(number: int) -> dict[str, Any]:
    has = {"cpu": "192", "memory": "2Ti", "ephemeral-storage": "20Ti", "pods": "110", "nvidia.com/gpu": str(GPUS)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": _name(number), "labels": MARK},
        "spec": {"taints": [{"key": "mlecore-benchmark", "effect": "NoSchedule"}]},
        "status": {"allocatable": has, "capacity": has},
    }


@contextmanager
def namespace(cluster: Cluster, claimed: dict[str, Any]) -> Iterator[None]:
    """With a claim for public data, which has this metadata and is never mounted."""
    name = cluster.namespace
    volume = {"accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Gi"}, "storageClassName": ""}
    volume |= {
        "nfs": {"server": "nowhere.invalid", "path": "/"},
        "claimRef": {"namespace": name, "name": claimed["name"]},
    }
    meta = {"name": name}
    cluster.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    cluster.create(
        "/api/v1/persistentvolumes",
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": volume},
    )
    cluster.create(
        "/apis/storage.k8s.io/v1/storageclasses",
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta, "provisioner": "nowhere.invalid"},
    )
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}
    claim |= {"volumeName": name}
    cluster.create(
        cluster.path("persistentvolumeclaims"),
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": claimed, "spec": claim},
    )
    try:
        while not usable(cluster):
            time.sleep(0.2)
        yield
    finally:
        cluster.delete(f"/api/v1/namespaces/{name}")
        cluster.delete(f"/api/v1/persistentvolumes/{name}")
        cluster.delete(f"/apis/storage.k8s.io/v1/storageclasses/{name}")


def options() -> dict[str, str]:
    """Of a backend whose runs go to the simulated nodes."""
    return {
        "namespace": NAME,
        "storage-class": NAME,
        "output": "pod",
        "node-selector": ",".join(f"{name}={value}" for name, value in MARK.items()),
        "tolerations": "mlecore-benchmark",
    }


def usable(cluster: Cluster) -> bool:
    """A namespace is, once its certificate is there."""
    try:
        return bool(cluster.id)
    except NotFound:
        return False


def job(public: Path) -> Job:
    return Job(
        name=f"mle-{uuid.uuid4().hex[:12]}-1",
        group="scale",
        image=Image(ref="image", digest="image"),
        dataset=Dataset(competition="toy", edition="v1", public=public, digest="d"),
        data="data/public",
        argv=("python", "agent.py"),
        tools={"init": Path(__import__("mlecore").__file__).parent / "sandbox" / "init"},
        files={"agent/agent.py": b"print()\n" * 1000},
        env={"MLECORE_CANDIDATES": "submission/submission.csv"},
        resources=Resources(gpus=1, cpus=8, memory=2**34, disk=2**36, time_limit=24 * 3600.0),
    )


def sizes(cluster: Cluster, handle: Handle) -> dict[str, int]:
    """Bytes of a run's objects, as JSON."""
    found = {kind: cluster.get(cluster.path(kind, handle.name)) for kind in ("jobs", "configmaps", "networkpolicies")}
    pods = cluster.items(cluster.path("pods"), labelSelector=f"job-name={handle.name}")
    return {kind: len(json.dumps(each)) for kind, each in {**found, "pods": next(pods)}.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kwok", type=Path, required=True)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--at-once", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=200)
    given = parser.parse_args()
    backend = KubernetesBackend(options())
    cluster = backend.cluster
    with (
        tempfile.TemporaryDirectory() as text,
        simulated(cluster, given.kwok, given.nodes, given.seconds, folder := Path(text)),
        namespace(cluster, {"name": "data"}),
    ):
        runs = Runs(backend, lambda: job(folder), lambda handle: None)
        before, began, cpu = Counter(cluster.requests), time.monotonic(), time.process_time()
        runs.all(given.runs, given.at_once)
        took, used = time.monotonic() - began, time.process_time() - cpu
        sent = cluster.requests - before
        example = backend.start(job(folder))
        while backend.status([example])[example].phase != "running":
            time.sleep(0.2)
        bytes_ = sizes(cluster, example)
        backend.remove(example)
        figures = {
            "nodes": given.nodes,
            "runs": given.runs,
            "failed": runs.failed,
            "running at once": runs.most,
            "seconds": round(took, 1),
            "CPU ms a run": round(1000 * used / given.runs, 1),
            "cores": round(used / took, 2),
            "MiB": memory(),
            "threads": threading.active_count(),
            "requests a run": round(sent.total() / given.runs, 2),
            "requests a second": round(sent.total() / took, 1),
            "requests": dict(sent.most_common()),
            "bytes of a run's objects": bytes_,
        }
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
