"""What the backend knows about its pods, Jobs and Kueue's workloads: one watch each, started when first needed.

Of each object only the fields that matter here are kept, so that thousands need little memory.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from attrs import evolve, frozen

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.watch import Watch
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Handle
from mlecore_sandboxes.containers import id_of

DELETED = 2000  # deleted pods that are still remembered
KUEUE = "kueue.x-k8s.io"
_JOB_UID = f"{KUEUE}/job-uid"  # label of a workload


@frozen(kw_only=True)
class Ended:
    """How the agent's container ended."""

    code: int
    reason: str  # Completed, Error, OOMKilled, ContainerStatusUnknown ...
    started: datetime | None
    at: datetime | None


@frozen(kw_only=True)
class Pod:
    """A pod that mlecore created."""

    name: str
    uid: str
    job: str  # empty: not part of a job
    role: str
    network: str  # of an agent's pod
    owner: str  # uid of its Job
    phase: str  # Pending, Running, Succeeded, Failed
    reason: str  # of its phase: Evicted, NodeLost, DeadlineExceeded ...
    message: str
    node: str
    ready: bool
    deleting: datetime | None  # deadline for its end
    disruption: str  # why the cluster evicted it: PreemptionByScheduler ...; empty: it did not
    disruption_message: str
    running: bool  # the agent's container
    ended: Ended | None
    waiting: str  # why it is not running, for people
    stuck: bool  # what it waits for does not come by itself
    terminal: bool  # its agent prints to a terminal, so the kubelet has its output
    message_at_end: str  # termination message of its first container
    hardware: str  # termination message of the stage container: its node, as JSON
    limits: Mapping[str, str]  # of the agent's container, by resource
    gone: bool = False  # deleted; the fields are from its last update

    @property
    def finished(self) -> bool:
        return self.phase in ("Failed", "Succeeded")


@frozen(kw_only=True)
class Job:
    """The Job of a run."""

    name: str
    uid: str
    labels: Mapping[str, str]
    deleting: bool
    suspended: bool
    started: bool  # it has been unsuspended
    ready: bool  # everything its pod needs has been created
    stopped: bool  # Backend.stop() was called
    conditions: Mapping[str, Condition]  # those that hold
    messages: tuple[str, ...]  # of all conditions


@frozen
class Condition:
    """Why a condition of a Job holds."""

    reason: str
    message: str


@frozen(kw_only=True)
class Workload:
    """What Kueue knows about a Job."""

    name: str  # the Job's uid, as lookups go by it
    uid: str
    waiting: str  # why Kueue has not admitted it
    preempted: str  # for whom Kueue took its place, also if it has another one now; empty: it did not


def job_of(raw: Mapping[str, Any]) -> Job:
    meta, status = raw["metadata"], raw.get("status") or {}
    annotations = meta.get("annotations") or {}
    conditions = status.get("conditions") or ()
    return Job(
        name=meta["name"],
        uid=meta["uid"],
        labels=meta.get("labels") or {},
        deleting="deletionTimestamp" in meta,
        suspended=bool(raw["spec"].get("suspend")),
        started=bool(status.get("startTime")),
        ready=names.READY in annotations,
        stopped=names.STOPPED in annotations,
        conditions={
            each["type"]: Condition(each.get("reason", ""), each.get("message", ""))
            for each in conditions
            if each["status"] == "True"
        },
        messages=tuple(each.get("message", "") for each in conditions),
    )


def workload_of(raw: Mapping[str, Any]) -> Workload:
    conditions = (raw.get("status") or {}).get("conditions") or ()
    waits = (each for each in conditions if each["type"] == "QuotaReserved" and each["status"] == "False")
    # Once Kueue has admitted it again, the condition is "False", and its message begins with "Previously: ".
    preempted = (each for each in conditions if each["type"] == "Preempted")
    return Workload(
        name=raw["metadata"]["labels"][_JOB_UID],
        uid=raw["metadata"]["uid"],
        waiting=next((str(each.get("message") or "") for each in waits), ""),
        preempted=next(
            (str(each.get("message") or "for another workload").removeprefix("Previously: ") for each in preempted), ""
        ),
    )


def pod_of(raw: Mapping[str, Any]) -> Pod:
    meta, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    labels = meta.get("labels") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    containers = {each["name"]: each for each in status.get("containerStatuses") or ()}
    agent = (containers.get(names.AGENT) or {}).get("state") or {}
    disruption = conditions.get("DisruptionTarget") or {}
    disrupted = disruption.get("status") == "True"
    owners = meta.get("ownerReferences") or ()
    agent_spec: Mapping[str, Any] = next(
        (each for each in spec.get("containers") or () if each["name"] == names.AGENT), {}
    )
    return Pod(
        name=meta["name"],
        uid=meta["uid"],
        job=labels.get(names.JOB, ""),
        role=labels.get(names.ROLE, ""),
        network=labels.get(names.NETWORK, ""),
        owner=next((each["uid"] for each in owners if each["kind"] == "Job"), ""),
        phase=status.get("phase", "Pending"),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        node=spec.get("nodeName", ""),
        ready=(conditions.get("Ready") or {}).get("status") == "True",
        deleting=_moment(meta.get("deletionTimestamp")),
        disruption=disruption.get("reason", "unknown") if disrupted else "",
        disruption_message=disruption.get("message", "") if disrupted else "",
        running="running" in agent,
        ended=_ended(agent.get("terminated")),
        waiting=(waiting := _waiting(status, conditions)),
        stuck=bool(_HOPELESS.search(waiting)) and not _PASSES.search(waiting),
        limits=dict((agent_spec.get("resources") or {}).get("limits") or {}),
        terminal=bool(agent_spec.get("tty")),
        message_at_end=_termination_message(status.get("containerStatuses") or ()),
        hardware=_termination_message(
            [each for each in status.get("initContainerStatuses") or () if each["name"] == names.STAGE]
        ),
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _ended(terminated: Mapping[str, Any] | None) -> Ended | None:
    if not terminated:
        return None
    return Ended(
        code=int(terminated.get("exitCode", 0)),
        reason=terminated.get("reason", ""),
        started=_moment(terminated.get("startedAt")),
        at=_moment(terminated.get("finishedAt")),
    )


def _waiting(status: Mapping[str, Any], conditions: Mapping[str, Any]) -> str:
    scheduled = conditions.get("PodScheduled") or {}
    if scheduled.get("status") == "False":
        return f"waits for room: {scheduled.get('message') or scheduled.get('reason')}"
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        state = each.get("state") or {}
        if waiting := state.get("waiting"):
            reason = waiting.get("reason", "")
            if reason not in ("PodInitializing", "ContainerCreating"):
                return f"{each['name']}: {reason}: {waiting.get('message', '')}".rstrip(": ")
        elif (ended := state.get("terminated")) and ended.get("exitCode"):
            return f"{each['name']} failed: {ended.get('message') or ended.get('reason')}".strip()
    return "is being set up"


_HOPELESS = re.compile(": (ErrImagePull|InvalidImageName|ErrImageNeverPull|CreateContainerConfigError)")
_PASSES = re.compile("timeout|timed out|refused|reset|unreachable|too many requests|server error|unavailable", re.I)
_BETWEEN_PULLS = ": ImagePullBackOff"


def after_pull(before: Pod, found: Pod) -> Pod:
    """Between two pulls, older clusters no longer tell why the last one failed."""
    if _BETWEEN_PULLS not in found.waiting or "ErrImagePull" in found.waiting or "ErrImagePull" not in before.waiting:
        return found
    return evolve(found, waiting=before.waiting, stuck=before.stuck)


def _termination_message(statuses: Any) -> str:
    for each in statuses:
        if ended := (each.get("state") or {}).get("terminated"):
            return str(ended.get("message") or "")
    return ""


class Pods(Watch[Pod]):
    """All pods that mlecore created. A deleted pod of an agent is remembered until its Job is forgotten."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster, lambda: cluster.path("pods"), names.ROLE, pod_of)
        self._live: dict[str, Pod] = {}  # of agents, by the uid of their Job
        self._gone: dict[str, Pod] = {}

    def agent(self, job_uid: str) -> Pod | None:
        """The pod of a Job's agent. Raises BackendUnreachable."""
        with self._listening():
            return self._live.get(job_uid) or self._gone.get(job_uid)

    def of_job(self, job: str) -> list[Pod]:
        """All existing pods of a job. Raises BackendUnreachable."""
        with self._listening():
            return [pod for pod in self._objects.values() if pod.job == job]

    def ensure_ready(
        self, name: str, manifest: Callable[[], dict[str, Any]], seconds: float, fix: str = "", *, patient: bool = True
    ) -> None:
        """Create a helper pod unless it exists, and wait until it runs. Raises BackendUnreachable.

        ``patient`` False: BackendError for a pod that waits for what does not come by itself, such as its image.
        """
        path = self._cluster.path("pods", name)
        if (found := self.find(name)) is not None and found.finished:
            self._cluster.delete(path, gracePeriodSeconds=0)
            self.until(lambda: self.find(name) is None, seconds)
            found = None
        if found is None:
            self._cluster.ensure(self._cluster.path("pods"), manifest())

        def settled() -> bool:
            pod = self.find(name)
            return pod is not None and (pod.ready or pod.finished or pod.stuck)

        self.until(settled, seconds)
        found = self.find(name)
        if found is not None and (found.ready or found.finished):
            return
        why = found.waiting if found else "it does not exist"
        stuck = found is not None and found.stuck
        if stuck:
            self._cluster.delete(path, gracePeriodSeconds=0)  # the next one may have another image
        error = BackendError if stuck and not patient else BackendUnreachable
        raise error(f"the pod {name} does not start: {why}", fix=fix or f"kubectl describe pod {name}")

    def forget(self, job_uid: str) -> None:
        """Drop what is remembered of this Job's deleted pod."""
        with self._changed:
            self._gone.pop(job_uid, None)

    def _put(self, found: Pod) -> None:
        if (before := self._objects.get(found.uid)) is not None:
            found = after_pull(before, found)
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
        self._gone: set[str] = set()  # uids of Jobs that were removed, or that the cluster did not have

    def of(self, handle: Handle) -> Job | None:
        """From the cache; the cluster is asked only about a Job that is not in it yet. None: it is gone."""
        uid = id_of(handle)
        return None if uid in self._gone else self.get(uid) or self.ask(handle)

    def ask(self, handle: Handle) -> Job | None:
        """As the cluster has it now: the cache may be a moment behind. None: it is gone."""
        uid = id_of(handle)
        with contextlib.suppress(NotFound):
            found = job_of(self._cluster.get(self._cluster.path("jobs", handle.name)))
            if found.uid == uid:
                return found
        self.forget(uid)
        return None

    def is_gone(self, uid: str) -> bool:
        """Certain, even while the cache still has it."""
        return uid in self._gone

    def forget(self, uid: str) -> None:
        """It has been removed."""
        self._gone.add(uid)


class Workloads(Watch[Workload]):
    """Why Kueue has not admitted Jobs yet, as far as its workloads may be read."""

    def __init__(self, cluster: Cluster) -> None:
        def path() -> str:
            return f"{kueue_api(cluster)}/namespaces/{cluster.namespace}/workloads"

        super().__init__(cluster, path, _JOB_UID, workload_of)

    def preempted(self, job_uid: str) -> str:
        """For whom Kueue took the Job's place; empty if it did not, or nobody may read it."""
        if kueue_api(self._cluster) is None:
            return ""
        try:
            found = self.find(job_uid)
        except BackendError:
            return ""
        return found.preempted if found is not None else ""

    def waiting(self, job: Job) -> str:
        """Why the Job waits; empty if it does not, or the reason is unknown."""
        if names.QUEUE not in job.labels or not job.suspended:
            return ""
        if kueue_api(self._cluster) is None:
            return "Kueue is not installed, so nothing will admit it"
        try:
            found = self.find(job.uid)
        except BackendError:
            return ""
        return found.waiting if found is not None else ""


@cache
def kueue_api(cluster: Cluster) -> str | None:
    """The path of Kueue's API in this cluster; None: Kueue is not installed."""
    try:
        found = cluster.get(f"/apis/{KUEUE}")
    except BackendError:
        return None
    return f"/apis/{found['preferredVersion']['groupVersion']}"


class ClusterCache:
    """Everything that one backend watches."""

    def __init__(self, cluster: Cluster) -> None:
        self.pods = Pods(cluster)
        self.jobs = Jobs(cluster)
        self.workloads = Workloads(cluster)

    def forget(self, uid: str) -> None:
        """Treat a Job as gone: it has been removed."""
        self.jobs.forget(uid)
        self.pods.forget(uid)
