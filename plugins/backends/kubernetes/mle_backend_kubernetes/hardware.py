"""What hardware a pod had: its limits, and its node as ``stage`` saw it in the same pod, before the agent began."""

from __future__ import annotations

import json

from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.nodes import quantity
from mle_backend_kubernetes.seen import Pod
from mle_backend_kubernetes.settings import Settings
from mlecore.backends import Hardware
from mlecore.errors import BackendError, BackendUnreachable

_MODEL = "nvidia.com/gpu.product"  # label of a node, by NVIDIA's feature discovery


class Measured:
    """Answers for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._models: dict[str, str] = {}  # of the GPUs of each node

    def of(self, pod: Pod) -> Hardware | None:
        """Of a pod that was staged; None where its ``stage`` left no word."""
        try:
            node = Hardware(**json.loads(pod.staged))
        except (ValueError, TypeError):
            return None
        given = {name: quantity(text) for name, text in pod.given.items()}
        gpus = int(given.get(self._settings.gpu_resource, 0))
        memory = int(given.get("memory", 0))
        return Hardware(
            cpus=given.get("cpu", node.cpus),
            cpu=node.cpu,
            memory=min(filter(None, (memory, node.memory)), default=None),
            gpus=(self._gpu_model(pod.node),) * gpus if gpus else (),
            kernel=node.kernel,
        )

    def _gpu_model(self, node: str) -> str:
        """The label of its node where we may read it, else what the cluster calls such GPUs."""
        if node not in self._models:
            try:
                labels = self._cluster.get(f"/api/v1/nodes/{node}")["metadata"].get("labels") or {}
            except BackendUnreachable:
                raise
            except BackendError:
                labels = {}
            self._models[node] = str(labels.get(_MODEL) or self._settings.gpu_resource)
        return self._models[node]
