"""What the cluster has for runs, in words; what we may not see is named as such."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from mle_backend_kubernetes import queue
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.nodes import free_gpus, nodes
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError


def lines(cluster: Cluster, settings: Settings) -> list[str]:
    """See Backend.inventory. Raises BackendUnreachable."""
    looks: tuple[Callable[[], Iterator[str]], ...] = (
        partial(_cluster, cluster),
        partial(_nodes, cluster, settings),
        partial(_storage, cluster),
        partial(_queues, cluster),
    )
    out: list[str] = []
    for look in looks:
        try:
            out += look()
        except BackendError as error:
            out.append(f"not known: {error.message}")
    return out


def _cluster(cluster: Cluster) -> Iterator[str]:
    yield f"Kubernetes {cluster.version} at {cluster.configuration.host}, namespace {cluster.namespace}"


def _nodes(cluster: Cluster, settings: Settings) -> Iterator[str]:
    there = nodes(cluster, settings)
    gpus = sum(node.gpus for node in there)
    free = sum(free_gpus(cluster, settings, there).values()) if gpus else 0
    with_gpus = sum(node.gpus > 0 for node in there)
    yield f"nodes: {len(there)}, {with_gpus} of them with {settings.gpu_resource}: {gpus}, of which {free} are free"


def _storage(cluster: Cluster) -> Iterator[str]:
    found = cluster.items("/apis/storage.k8s.io/v1/storageclasses")
    yield "storage classes: " + (", ".join(sorted(each["metadata"]["name"] for each in found)) or "none")


def _queues(cluster: Cluster) -> Iterator[str]:
    path = queue.api(cluster)
    if path is None:
        yield "Kueue: not installed"
        return
    found = cluster.items(f"{path}/namespaces/{cluster.namespace}/localqueues")
    yield "Kueue: " + (", ".join(sorted(each["metadata"]["name"] for each in found)) or "no queue in the namespace")
