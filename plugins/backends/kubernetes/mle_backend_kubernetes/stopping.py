"""Asking a job to end. Its Job is marked first, so that this end can be distinguished from those that others cause.

Its pod is deleted, and the kubelet does the rest; nobody waits for that. Where its files would go with the pod, the
agent is signalled instead, and its end is waited for.
"""

from __future__ import annotations

import contextlib
import math
from datetime import UTC, datetime
from typing import Any

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.exec import Broken, execute
from mle_backend_kubernetes.seen import Pod
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.tracked import Pods
from mlecore.backends import Handle
from mlecore.errors import BackendError

MORE = 3.0  # seconds on top of the grace, for init to note down how it ended
KUBELET = 60.0  # seconds that a node may take to say that a pod has ended


def stop(cluster: Cluster, settings: Settings, watch: Pods, handle: Handle, grace: float) -> None:
    """See Backend.stop."""
    uid = names.uid(handle)
    pod = watch.agent(uid)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    change: dict[str, Any] = {"metadata": {"annotations": {names.STOPPED: now}}}
    if pod is None:
        change["spec"] = {"suspend": True}  # it gets no pod any more, or loses one that has not been seen yet
    try:
        cluster.patch(cluster.path("jobs", handle.name), change)
    except NotFound:
        return
    if pod is None or _ended(pod):
        return

    def over() -> bool:
        return _ended(watch.agent(uid))

    if settings.output == "pod" and pod.running:  # its files would go with the pod
        _signal(cluster, pod, "kill -TERM 1")
        if not watch.until(over, grace + MORE):
            _signal(cluster, pod, "kill -KILL -1")
        if watch.until(over, KUBELET):
            return
    cluster.delete(cluster.path("pods", pod.name), gracePeriodSeconds=math.ceil(grace + MORE))


def _ended(pod: Pod | None) -> bool:
    return pod is None or pod.gone or pod.ended is not None


def _signal(cluster: Cluster, pod: Pod, command: str) -> None:
    """Through a shell of the agent's own image: nothing else is in its process namespace."""
    shell = ["/bin/sh", "-c", command]
    with contextlib.suppress(Broken, BackendError), execute(cluster, pod.name, names.AGENT, shell) as stream:
        stream.read()
