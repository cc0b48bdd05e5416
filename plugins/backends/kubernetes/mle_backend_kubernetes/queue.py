"""Kueue: which queue a run waits in, and what for. Kueue schedules; this only reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster
from mlecore.errors import BackendError

GROUP = "kueue.x-k8s.io"
NAMED = 20  # so many are asked for by name, more as a list


@cache
def api(cluster: Cluster) -> str | None:
    """The path of Kueue's interface in this cluster; None: Kueue is not there."""
    try:
        found = cluster.get(f"/apis/{GROUP}")
    except BackendError:
        return None
    return f"/apis/{found['preferredVersion']['groupVersion']}"


def holds(job: Mapping[str, Any] | None) -> bool:
    """Does a queue hold this Job back?"""
    return job is not None and names.QUEUE in job["metadata"]["labels"] and bool(job["spec"].get("suspend"))


def reasons(cluster: Cluster, uids: Collection[str]) -> dict[str, str]:
    """Why Kueue holds these Jobs back, in its own words, where it says so and we may read it; in one request."""
    if not uids:
        return {}
    path = api(cluster)
    if path is None:
        return dict.fromkeys(uids, "Kueue is not installed, so nothing will admit it")
    query = {"labelSelector": f"{GROUP}/job-uid in ({','.join(uids)})"} if len(uids) <= NAMED else {}
    try:
        found = list(cluster.items(f"{path}/namespaces/{cluster.namespace}/workloads", **query))
    except BackendError:
        return {}
    return {uid: _words(each) for each in found if (uid := each["metadata"]["labels"].get(f"{GROUP}/job-uid")) in uids}


def _words(workload: Mapping[str, Any]) -> str:
    for condition in (workload.get("status") or {}).get("conditions") or ():
        if condition["type"] == "QuotaReserved" and condition["status"] == "False":
            return str(condition.get("message") or "")
    return ""
