"""What became of jobs. The watch over pods answers; a Job is asked about only where it has no pod to speak for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from mle_backend_kubernetes import ending, names, queue
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.seen import Pod
from mle_backend_kubernetes.watch import Watch
from mlecore.backends import Handle, JobStatus
from mlecore.errors import BackendError

AGAIN = 0.1  # of the time that a Job has had no pod passes before it is asked about again; at least a second,
SELDOM = 30.0  # at most so many
ONE_BY_ONE = 3  # so many Jobs are asked for by name, more as a list
GONE = JobStatus(phase="gone", reason="the cluster has no such Job")


def find(cluster: Cluster, group: str) -> dict[str, Handle]:
    """Jobs of a group by name; also those of which there is only a service yet, to be removed."""
    selector = f"{names.GROUP}={group}"
    services = cluster.items(cluster.path("services"), labelSelector=selector)
    jobs = cluster.items(cluster.path("jobs"), labelSelector=selector)
    out = {each["metadata"]["labels"][names.JOB]: "" for each in services if not _deleting(each)}
    out |= {each["metadata"]["name"]: each["metadata"]["uid"] for each in jobs if not _deleting(each)}
    return {name: names.handle(name, uid, cluster.id) for name, uid in out.items()}


@frozen(kw_only=True)
class _Asked:
    """What the cluster said of a Job."""

    first: float  # monotonic time of the first question
    last: float
    job: Mapping[str, Any] | None  # None: it is gone
    words: str  # Kueue's, on why it waits


class Statuses:
    """Answers for one backend; remembers when it asked about which Job."""

    def __init__(self, cluster: Cluster, watch: Watch) -> None:
        self._cluster = cluster
        self._watch = watch
        self._lock = threading.Lock()
        self._asked: dict[str, _Asked] = {}  # by uid
        self._removed: set[str] = set()  # uids of Jobs that we removed, whatever the watch has still to tell

    def of(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """See Backend.status."""
        for handle in handles:
            if names.cluster(handle) != self._cluster.id:
                raise BackendError(
                    f"{handle.name} runs in another cluster or namespace than {self._cluster.namespace} at"
                    f" {self._cluster.configuration.host}",
                    fix="Choose the one that it was started in (KUBECONFIG, -B context=NAME, -B namespace=NAME).",
                )
        pods = self._watch.agents()
        with self._lock:
            jobs = self._jobs([handle for handle in handles if self._unclear(handle, pods)])
        return {handle: self._status(uid := names.uid(handle), pods.get(uid), jobs.get(uid)) for handle in handles}

    def forget(self, handle: Handle) -> None:
        with self._lock:
            self._asked.pop(names.uid(handle), None)
            self._removed.add(names.uid(handle))
        self._watch.forget(names.uid(handle))

    def _status(self, uid: str, pod: Pod | None, asked: _Asked | None) -> JobStatus:
        if uid in self._removed:
            return GONE
        if asked is None:
            assert pod is not None
            return ending.of_pod(pod, None)
        if asked.job is None or _deleting(asked.job):
            return GONE
        status = ending.of_pod(pod, asked.job) if pod is not None else ending.of_job(asked.job)
        return evolve(status, reason=f"{status.reason}: {asked.words}") if asked.words else status

    def _unclear(self, handle: Handle, pods: Mapping[str, Pod]) -> bool:
        pod = pods.get(names.uid(handle))
        return names.uid(handle) not in self._removed and (pod is None or ending.needs_job(pod))

    def _jobs(self, unclear: Sequence[Handle]) -> dict[str, _Asked]:
        """What is known of the Jobs of these handles. Those asked about just now are not asked about again."""
        now = time.monotonic()
        due = [handle for handle in unclear if self._due(names.uid(handle), now)]
        if len(due) > ONE_BY_ONE:
            selector = f"{names.ROLE}={names.AGENT}"
            listed = self._cluster.items(self._cluster.path("jobs"), labelSelector=selector)
            there: dict[str, Mapping[str, Any]] = {each["metadata"]["uid"]: each for each in listed}
        else:
            there = {each["metadata"]["uid"]: each for handle in due for each in self._job(handle.name)}
        waiting = [uid for handle in due if queue.holds(there.get(uid := names.uid(handle)))]
        words = queue.reasons(self._cluster, waiting)
        for uid in map(names.uid, due):
            first = self._asked[uid].first if uid in self._asked else now
            self._asked[uid] = _Asked(first=first, last=now, job=there.get(uid), words=words.get(uid, ""))
        return {uid: self._asked[uid] for uid in map(names.uid, unclear)}

    def _due(self, uid: str, now: float) -> bool:
        asked = self._asked.get(uid)
        if asked is None:
            return True
        if asked.job is None:
            return False  # it is gone, and does not come back
        return now - asked.last >= min(max(1.0, AGAIN * (now - asked.first)), SELDOM)

    def _job(self, name: str) -> list[Mapping[str, Any]]:
        try:
            return [self._cluster.get(self._cluster.path("jobs", name))]
        except NotFound:
            return []


def _deleting(found: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" in found["metadata"]
