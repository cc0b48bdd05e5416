"""What is watched in the namespace: our pods, also those that are gone; Jobs; claims that wait to be bound."""

from __future__ import annotations

import contextlib

from attrs import evolve, frozen

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.seen import Claim, Job, Pod, claim_of, job_of, pod_of
from mle_backend_kubernetes.watch import Watch
from mlecore.backends import Handle

DELETED = 2000  # pods that are gone and still remembered


class Pods(Watch[Pod]):
    """All pods of ours. Those of agents are remembered as they were last seen, until their Job is forgotten."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster, lambda: cluster.path("pods"), names.ROLE, pod_of)
        self._live: dict[str, Pod] = {}  # of agents, by the uid of their Job
        self._gone: dict[str, Pod] = {}

    def agent(self, job_uid: str) -> Pod | None:
        """The pod of a Job's agent. Raises BackendUnreachable."""
        with self._listening():
            return self._live.get(job_uid) or self._gone.get(job_uid)

    def of_job(self, job: str) -> list[Pod]:
        """All pods of a job that are there. Raises BackendUnreachable."""
        with self._listening():
            return [pod for pod in self._there.values() if pod.job == job]

    def forget(self, job_uid: str) -> None:
        """Nobody asks about this Job any more."""
        with self._changed:
            self._gone.pop(job_uid, None)

    def _put(self, found: Pod) -> None:
        super()._put(found)
        if found.role == names.AGENT:
            self._live[found.owner] = found

    def _drop(self, found: Pod) -> None:
        super()._drop(found)
        last = self._live.get(found.owner)
        if last is not None and last.uid == found.uid:
            del self._live[found.owner]
            self._gone[found.owner] = evolve(found, gone=True)
            while len(self._gone) > DELETED:
                del self._gone[next(iter(self._gone))]


class Jobs(Watch[Job]):
    """The Jobs of agents."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster, lambda: cluster.path("jobs"), f"{names.ROLE}={names.AGENT}", job_of)
        self._gone: set[str] = set()  # uids of Jobs that we removed, or that the cluster did not have

    def of(self, handle: Handle) -> Job | None:
        """As watched; the cluster is asked only about a Job that has not been seen yet. None: it is gone."""
        uid = names.uid(handle)
        return None if uid in self._gone else self.get(uid) or self.ask(handle)

    def ask(self, handle: Handle) -> Job | None:
        """As it is just now: a watch may be a moment behind. None: it is gone."""
        uid = names.uid(handle)
        with contextlib.suppress(NotFound):
            found = job_of(self._cluster.get(self._cluster.path("jobs", handle.name)))
            if found.uid == uid:
                return found
        self.forget(uid)
        return None

    def is_gone(self, uid: str) -> bool:
        """For certain, whatever a watch still says of it."""
        return uid in self._gone

    def forget(self, uid: str) -> None:
        """It has been removed."""
        self._gone.add(uid)


@frozen
class Tracked:
    """All that one backend watches; each watch begins when it is first needed."""

    pods: Pods
    jobs: Jobs
    claims: Watch[Claim]

    @classmethod
    def of(cls, cluster: Cluster) -> Tracked:
        claims = Watch(cluster, lambda: cluster.path("persistentvolumeclaims"), names.ROLE, claim_of)
        return cls(Pods(cluster), Jobs(cluster), claims)

    def forget(self, uid: str) -> None:
        """A Job has been removed; nobody asks about it any more."""
        self.jobs.forget(uid)
        self.pods.forget(uid)
