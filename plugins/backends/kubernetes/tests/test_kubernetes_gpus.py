"""GPUs: never two runs on one, queues that admit by quota, and what is said where they do not suffice."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from mle_backend_kubernetes.cluster_cache import kueue_api
from mle_backend_kubernetes.nodes import nodes

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes")]


@pytest.fixture
def gpus(lab: Lab) -> int:
    """How many the largest node has."""
    most = max(node.gpus for node in nodes(lab.cluster, lab.backend.settings))
    if most < 2:
        pytest.skip("no node of the cluster has two GPUs")
    return most


@pytest.fixture
def quota(lab: Lab, gpus: int) -> Iterator[str]:
    """A queue that admits as many GPUs as there are on one node."""
    path = kueue_api(lab.cluster)
    if path is None:
        pytest.skip("the cluster has no Kueue")
    name = f"mlecore-{uuid.uuid4().hex[:8]}"
    version = path.removeprefix("/apis/")
    resources = [
        {"name": "nvidia.com/gpu", "nominalQuota": gpus},
        {"name": "cpu", "nominalQuota": 100},
        {"name": "memory", "nominalQuota": "100Gi"},
    ]
    groups = [
        {"coveredResources": [each["name"] for each in resources], "flavors": [{"name": name, "resources": resources}]}
    ]
    made: list[tuple[str, dict[str, Any]]] = [
        ("resourceflavors", {"kind": "ResourceFlavor"}),
        ("workloadpriorityclasses", {"kind": "WorkloadPriorityClass", "value": 1000}),
        (
            "clusterqueues",
            {
                "kind": "ClusterQueue",
                "spec": {
                    "namespaceSelector": {},
                    "preemption": {"withinClusterQueue": "LowerPriority"},
                    "resourceGroups": groups,
                },
            },
        ),
        (f"namespaces/{lab.cluster.namespace}/localqueues", {"kind": "LocalQueue", "spec": {"clusterQueue": name}}),
    ]
    for kind, body in made:
        lab.cluster.create(f"{path}/{kind}", {"apiVersion": version, "metadata": {"name": name}, **body})
    yield name
    for kind, _ in reversed(made):
        lab.cluster.delete(f"{path}/{kind}/{name}")


def test_more_runs_than_gpus_go_through_a_queue_and_share_none(
    make_lab: Callable[..., Lab], gpus: int, quota: str
) -> None:
    lab = make_lab(queue=quota)
    clock = "read -r up rest </proc/uptime"
    script = f"{clock}; echo from $up on $NVIDIA_VISIBLE_DEVICES; sleep 2; {clock}; echo to $up"
    jobs = [lab.job(script, gpus=1) for _ in range(gpus + 2)]
    handles = [lab.backend.start(job) for job in jobs]
    waited = set()
    found = {}

    def all_ended() -> bool:
        found.update(lab.backend.status(handles))
        waited.update(status.reason for status in found.values() if status.phase == "pending")
        return all(status.phase == "exited" for status in found.values())

    lab.until(all_ended, lambda: found, seconds=300)
    assert all(status.exit_code == 0 for status in found.values()), found
    assert any(f"waits in the queue {quota}" in reason for reason in waited)
    held: dict[str, list[tuple[float, float]]] = {}
    for handle in handles:
        words = lab.output(handle).decode().split()
        held.setdefault(words[3], []).append((float(words[1]), float(words[5])))
    assert len(held) <= gpus
    for times in held.values():
        times.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(times)), held
