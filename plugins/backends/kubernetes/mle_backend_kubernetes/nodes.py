"""What the nodes have, what of it is free, and what a pod had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import Pod
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Hardware, Problem, Resources
from mlecore_sandboxes.preflight import beyond

_GPU_MODEL = "nvidia.com/gpu.product"  # label of a node, by NVIDIA's feature discovery


@frozen(kw_only=True)
class Node:
    """What a node can give to pods."""

    name: str
    cpus: float
    memory: int  # bytes
    gpus: int
    open: bool  # it takes new pods


def quantity(text: str | int) -> float:
    """A number as the cluster writes it: 4, 1500m, 16Gi."""
    from kubernetes.utils import parse_quantity

    return float(parse_quantity(text))


def nodes(cluster: Cluster, settings: Settings) -> list[Node]:
    """The nodes that runs may go to. Raises BackendError where we may not list them."""
    selector = ",".join(f"{name}={value}" for name, value in settings.pod_spec.get("nodeSelector", {}).items())
    query = {"labelSelector": selector} if selector else {}
    return [_node(each, settings.gpu_resource) for each in cluster.items("/api/v1/nodes", **query)]


def _node(raw: Mapping[str, Any], gpu: str) -> Node:
    there = raw["status"].get("allocatable") or {}
    return Node(
        name=raw["metadata"]["name"],
        cpus=quantity(there.get("cpu", 0)),
        memory=int(quantity(there.get("memory", 0))),
        gpus=int(quantity(there.get(gpu, 0))),
        open=not raw["spec"].get("unschedulable"),
    )


def free_gpus(cluster: Cluster, settings: Settings, there: Sequence[Node]) -> dict[str, int]:
    """GPUs of the open nodes among these that no pod has, by node. Raises BackendError where we may not list pods."""
    free = {node.name: node.gpus for node in there if node.open}
    for pod in cluster.items(
        "/api/v1/pods", fieldSelector="spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
    ):
        if pod["spec"]["nodeName"] in free:
            free[pod["spec"]["nodeName"]] -= _gpus(pod, settings.gpu_resource)
    return {name: max(0, gpus) for name, gpus in free.items()}


def _gpus(pod: Mapping[str, Any], gpu: str) -> int:
    requests = ((each.get("resources") or {}).get("requests") or {} for each in pod["spec"]["containers"])
    return sum(int(quantity(each.get(gpu, 0))) for each in requests)


class GpuModels:
    """The models of the GPUs of nodes, each read once for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._models: dict[str, str] = {}  # of the GPUs of each node

    def hardware(self, pod: Pod) -> Hardware | None:
        """A pod's limits, and its node as ``stage`` measured it before the agent began; None if it left no record."""
        try:
            node = Hardware(**json.loads(pod.hardware))
        except (ValueError, TypeError):
            return None
        limits = {name: quantity(text) for name, text in pod.limits.items()}
        gpus = int(limits.get(self._settings.gpu_resource, 0))
        memory = int(limits.get("memory", 0))
        return Hardware(
            cpus=limits.get("cpu", node.cpus),
            cpu=node.cpu,
            memory=min(filter(None, (memory, node.memory)), default=None),
            gpus=(self._gpu_model(pod.node),) * gpus if gpus else (),
            kernel=node.kernel,
        )

    def _gpu_model(self, node: str) -> str:
        """The label of its node if it may be read, else the name of the GPU resource."""
        if node not in self._models:
            try:
                labels = self._cluster.get(f"/api/v1/nodes/{node}")["metadata"].get("labels") or {}
            except BackendUnreachable:
                raise
            except BackendError:
                labels = {}
            self._models[node] = str(labels.get(_GPU_MODEL) or self._settings.gpu_resource)
        return self._models[node]


def problems(cluster: Cluster, settings: Settings, requested: Sequence[Resources]) -> Iterator[Problem]:
    """What no node can give is fatal; what none can give now is waited for."""
    try:
        there = nodes(cluster, settings)
    except BackendError:
        if any(resources.gpus for resources in requested):
            yield Problem(
                description="no permission to list nodes, so it is unknown whether any has the requested GPUs",
                fix="Have the ClusterRole of docs/kubernetes.md bound to you.",
                fatal=False,
            )
        return
    if not there:
        yield Problem(
            description="no node has the labels of pod-template's nodeSelector",
            fix="kubectl get nodes --show-labels",
        )
        return
    gpus = max((resources.gpus for resources in requested), default=0)
    if gpus > (most := max(node.gpus for node in there)):
        yield Problem(
            description=f"{gpus} {settings.gpu_resource} requested, but no node has more than {most}",
            fix="Request fewer with --gpus, or set the cluster's resource name: -B gpu-resource=NAME.",
            usage=True,
        )
    cpus, memory = max(node.cpus for node in there), max(node.memory for node in there)
    yield from beyond(requested, cpus, memory, "the largest node")
    if not any(node.open for node in there):
        yield Problem(description="all nodes are cordoned: runs wait", fix="kubectl uncordon NODE", fatal=False)
    if 0 < gpus <= most:
        try:
            free = max(free_gpus(cluster, settings, there).values(), default=0)
        except BackendError:
            return
        if free < gpus:
            yield Problem(
                description=f"{gpus} {settings.gpu_resource} requested; no node has over {free} free now: runs wait",
                fix="They start when others end; -B wait=TIME limits how long they wait.",
                fatal=False,
            )
