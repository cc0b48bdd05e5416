"""How the cluster isolates runs and enforces their limits."""

from __future__ import annotations

from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.probing import Probe
from mle_backend_kubernetes.settings import Settings
from mlecore.backends import Enforcement, Sandbox


def describe(cluster: Cluster, settings: Settings, probe: Probe) -> Sandbox:
    """See Backend.describe. Asks the cluster, with two pods, whether it enforces policies."""
    verdict = probe.verdict()
    return Sandbox(
        isolation="container",
        user=f"not root, {settings.user[0]}:{settings.user[1]}",
        time=Enforcement(level="watched", how="init, a controller that stops what outlasts it, and the Job's deadline"),
        cpus=Enforcement(level="enforced", how="cgroup"),
        memory=Enforcement(level="enforced", how="cgroup"),
        processes=Enforcement(
            level="absent", how="a pod cannot name a limit; the kubelet has one for all (podPidsLimit)"
        ),
        disk=_disk(settings),
        network=Enforcement(level="enforced" if verdict.enforced else "absent", how=verdict.words),
        network_verified=bool(verdict.enforced),
        details={
            "kubernetes": cluster.version,
            "namespace": cluster.namespace,
            "runtime_class": settings.runtime_class or "default",
            "queue": settings.queue or "none",
            "gpu_resource": settings.gpu_resource,
            "output": settings.output,
        },
    )


def _disk(settings: Settings) -> Enforcement:
    if settings.output == "pod":
        return Enforcement(level="watched", how="the kubelet evicts a pod that writes more")
    return Enforcement(level="absent", how="a claim of the size; whether that is kept to is up to the storage class")
