"""What a cluster has is counted where runs may go, and asked for only where it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.nodes import free_gpus, nodes, problems
from mle_backend_kubernetes.preflight import storage
from mle_backend_kubernetes.settings import Settings

from mlecore.backends import Resources
from mlecore.options import read_settings

GPU = "nvidia.com/gpu"


def node(name: str, gpus: int, *, open: bool = True) -> dict[str, Any]:
    has = {"cpu": "8", "memory": "64Gi", GPU: str(gpus)}
    return {"metadata": {"name": name}, "spec": {"unschedulable": not open}, "status": {"allocatable": has}}


def pod(where: str, *gpus: int) -> dict[str, Any]:
    containers = [{"resources": {"requests": {GPU: str(count)}}} for count in gpus]
    return {"spec": {"nodeName": where, "containers": containers}}


class Machines:
    """A cluster of two GPU nodes that runs may go to, one of them cordoned; others have a third, which is full."""

    def items(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        if path == "/api/v1/nodes":
            yield from (node("ours", 8), node("cordoned", 8, open=False))
        elif path == "/api/v1/pods":
            yield from (pod("ours", 2, 1), pod("others", 8), pod("cordoned", 1), {**pod("ours")})


@pytest.fixture
def cluster() -> Cluster:
    return cast(Cluster, Machines())


def test_free_gpus_are_those_of_open_nodes_that_runs_may_go_to(cluster: Cluster) -> None:
    settings = Settings()
    assert free_gpus(cluster, settings, nodes(cluster, settings)) == {"ours": 5}


def test_a_run_that_fits_a_node_and_must_wait_is_reported(cluster: Cluster) -> None:
    (found,) = problems(cluster, Settings(), [Resources(gpus=6)])
    assert not found.fatal and "6 nvidia.com/gpu requested; no node has over 5 free now" in found.description
    assert not list(problems(cluster, Settings(), [Resources(gpus=5)]))


@pytest.mark.parametrize(
    ("options", "fatal"),
    [
        ({}, True),
        ({"output": "pod"}, True),  # a claim with the data is made
        ({"data-claim": "ours"}, True),
        ({"output": "pod", "data-claim": "ours"}, False),
    ],
)
def test_a_storage_class_is_needed_where_claims_are_made(
    cluster: Cluster, options: dict[str, str], fatal: bool
) -> None:
    settings = read_settings(Settings, options, "backend kubernetes")
    assert [problem.fatal for problem in storage(cluster, settings)] == [True] * fatal
