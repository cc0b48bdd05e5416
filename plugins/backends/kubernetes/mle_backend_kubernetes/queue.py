"""Kueue: which queue a run waits in, and what for. Kueue schedules; this only reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import frozen

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.seen import Job
from mle_backend_kubernetes.watch import Watch
from mlecore.errors import BackendError

GROUP = "kueue.x-k8s.io"
JOB = f"{GROUP}/job-uid"  # label of a workload


@cache
def api(cluster: Cluster) -> str | None:
    """The path of Kueue's interface in this cluster; None: Kueue is not there."""
    try:
        found = cluster.get(f"/apis/{GROUP}")
    except BackendError:
        return None
    return f"/apis/{found['preferredVersion']['groupVersion']}"


@frozen(kw_only=True)
class Workload:
    """What Kueue makes of a Job."""

    name: str  # the Job's uid, as that is what one looks for
    uid: str
    words: str  # why it waits


def workload_of(raw: Mapping[str, Any]) -> Workload:
    conditions = (raw.get("status") or {}).get("conditions") or ()
    waits = (each for each in conditions if each["type"] == "QuotaReserved" and each["status"] == "False")
    return Workload(
        name=raw["metadata"]["labels"][JOB],
        uid=raw["metadata"]["uid"],
        words=next((str(each.get("message") or "") for each in waits), ""),
    )


class Queued:
    """Why Kueue holds Jobs back, in its own words, if it says so and we may read it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._watch = Watch(cluster, self._path, JOB, workload_of)

    def words(self, job: Job) -> str:
        if names.QUEUE not in job.labels or not job.suspended:
            return ""
        if api(self._cluster) is None:
            return "Kueue is not installed, so nothing will admit it"
        try:
            found = self._watch.find(job.uid)
        except BackendError:
            return ""
        return found.words if found is not None else ""

    def _path(self) -> str:
        return f"{api(self._cluster)}/namespaces/{self._cluster.namespace}/workloads"
