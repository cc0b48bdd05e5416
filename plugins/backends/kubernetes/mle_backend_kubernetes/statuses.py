"""What became of jobs. A watch over their pods answers, and one over Jobs for those that have no pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from mle_backend_kubernetes import ending, names, queue
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.hardware import Measured
from mle_backend_kubernetes.seen import Job, Pod
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.tracked import Tracked
from mlecore.backends import Handle, JobStatus
from mlecore.errors import BackendError

GONE = JobStatus(phase="gone", reason="the cluster has no such Job")


def list_jobs(cluster: Cluster, group: str) -> dict[str, Handle]:
    """Jobs of a group by name; also those of which there is only a service yet, to be removed."""
    selector = f"{names.GROUP}={group}"
    services = cluster.items(cluster.path("services"), labelSelector=selector)
    jobs = cluster.items(cluster.path("jobs"), labelSelector=selector)
    out = {each["metadata"]["labels"][names.JOB]: "" for each in services if not _deleting(each)}
    out |= {each["metadata"]["name"]: each["metadata"]["uid"] for each in jobs if not _deleting(each)}
    return {name: names.handle(name, uid, cluster.id) for name, uid in out.items()}


class Statuses:
    """Answers for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, tracked: Tracked) -> None:
        self._cluster = cluster
        self._measured = Measured(cluster, settings)
        self._tracked = tracked
        self._queued = queue.Queued(cluster)
        self._asked: set[str] = set()  # uids of pods at whose end their Job was asked for

    def of(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """See Backend.status."""
        for handle in handles:
            if names.cluster(handle) != self._cluster.id:
                raise BackendError(
                    f"{handle.name} runs in another cluster or namespace than {self._cluster.namespace} at"
                    f" {self._cluster.configuration.host}",
                    fix="Choose the one that it was started in (KUBECONFIG, -B context=NAME, -B namespace=NAME).",
                )
        return {handle: self._of(handle) for handle in handles}

    def _of(self, handle: Handle) -> JobStatus:
        uid = names.uid(handle)
        if self._tracked.jobs.is_gone(uid):
            return GONE
        seen, pod = self._tracked.jobs.get(uid), self._tracked.pods.agent(uid)
        if seen is not None and seen.deleting:
            return GONE
        if pod is not None and not ending.needs_job(pod):
            return self._of_pod(pod, None)
        job = self._job(handle, pod)
        if job is None or job.deleting:
            return GONE
        status = ending.of_job(job) if pod is None else self._of_pod(pod, job)
        words = self._queued.words(job) if status.phase == "pending" else ""
        return evolve(status, reason=f"{status.reason}: {words}") if words else status

    def _of_pod(self, pod: Pod, job: Job | None) -> JobStatus:
        status = ending.of_pod(pod, job)
        return evolve(status, hardware=self._measured.of(pod)) if status.phase == "exited" else status

    def _job(self, handle: Handle, pod: Pod | None) -> Job | None:
        """As watched; but asked for, once, at its pod's end: the watch over Jobs may be behind that over pods."""
        if pod is None or not ending.is_over(pod) or pod.uid in self._asked:
            return self._tracked.jobs.of(handle)
        found = self._tracked.jobs.ask(handle)
        self._asked.add(pod.uid)
        return found


def _deleting(found: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" in found["metadata"]
