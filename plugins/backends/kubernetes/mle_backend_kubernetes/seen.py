"""What matters here of the JSON of pods, Jobs and claims, in little memory: a watch keeps one of these for each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from mle_backend_kubernetes import names


@frozen(kw_only=True)
class Ended:
    """How the agent's container ended."""

    code: int
    reason: str  # Completed, Error, OOMKilled, ContainerStatusUnknown ...
    began: datetime | None
    at: datetime | None


@frozen(kw_only=True)
class Pod:
    """One pod of ours."""

    name: str
    uid: str
    job: str  # empty: of no job
    group: str
    role: str
    network: str  # of an agent's pod
    owner: str  # uid of its Job
    phase: str  # Pending, Running, Succeeded, Failed
    reason: str  # of its phase: Evicted, NodeLost, DeadlineExceeded ...
    message: str
    node: str
    ip: str
    ready: bool
    deleting: datetime | None  # until when it may take to end
    disruption: str  # why the cluster took it from its node: PreemptionByScheduler ...; empty: it did not
    disruption_message: str
    running: bool  # the agent's container
    ended: Ended | None
    waiting: str  # why it is not running, in words
    unlimited: tuple[str, ...]  # resources that its agent has no limit of
    terminal: bool  # its agent prints to a terminal, and so to the kubelet
    said: str  # termination message of its first container
    staged: str  # the same of the container that came before the agent's
    given: Mapping[str, str]  # limits of the agent's container, by resource
    gone: bool = False  # it was deleted; this is how it was last seen


@frozen(kw_only=True)
class Job:
    """The Job of a run."""

    name: str
    uid: str
    labels: Mapping[str, str]
    deleting: bool
    suspended: bool
    began: bool  # it was let go
    made: bool  # all that it needs is there
    stopped: bool  # we were asked to end it
    conditions: Mapping[str, Condition]  # those that hold
    messages: tuple[str, ...]  # of all conditions


@frozen
class Condition:
    """Why a condition of a Job holds."""

    reason: str
    message: str


@frozen(kw_only=True)
class Claim:
    """A claim for storage."""

    name: str
    uid: str
    bound: bool


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
        began=bool(status.get("startTime")),
        made=names.READY in annotations,
        stopped=names.STOPPED in annotations,
        conditions={
            each["type"]: Condition(each.get("reason", ""), each.get("message", ""))
            for each in conditions
            if each["status"] == "True"
        },
        messages=tuple(each.get("message", "") for each in conditions),
    )


def claim_of(raw: Mapping[str, Any]) -> Claim:
    phase = (raw.get("status") or {}).get("phase")
    return Claim(name=raw["metadata"]["name"], uid=raw["metadata"]["uid"], bound=phase == "Bound")


def pod_of(raw: Mapping[str, Any]) -> Pod:
    meta, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    labels = meta.get("labels") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    containers = {each["name"]: each for each in status.get("containerStatuses") or ()}
    agent = (containers.get(names.AGENT) or {}).get("state") or {}
    disruption = conditions.get("DisruptionTarget") or {}
    disrupted = disruption.get("status") == "True"
    owners = meta.get("ownerReferences") or ()
    return Pod(
        name=meta["name"],
        uid=meta["uid"],
        job=labels.get(names.JOB, ""),
        group=labels.get(names.GROUP, ""),
        role=labels.get(names.ROLE, ""),
        network=labels.get(names.NETWORK, ""),
        owner=next((each["uid"] for each in owners if each["kind"] == "Job"), ""),
        phase=status.get("phase", "Pending"),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        node=spec.get("nodeName", ""),
        ip=status.get("podIP", ""),
        ready=(conditions.get("Ready") or {}).get("status") == "True",
        deleting=moment(meta.get("deletionTimestamp")),
        disruption=disruption.get("reason", "unknown") if disrupted else "",
        disruption_message=disruption.get("message", "") if disrupted else "",
        running="running" in agent,
        ended=_ended(agent.get("terminated")),
        waiting=_waiting(status, conditions),
        unlimited=tuple(name for name in ("memory", "ephemeral-storage") if name not in _limits(spec)),
        given=dict(_limits(spec)),
        terminal=bool(_agent(spec).get("tty")),
        said=_said(status.get("containerStatuses") or ()),
        staged=_said([each for each in status.get("initContainerStatuses") or () if each["name"] == names.STAGE]),
    )


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _ended(terminated: Mapping[str, Any] | None) -> Ended | None:
    if not terminated:
        return None
    return Ended(
        code=int(terminated.get("exitCode", 0)),
        reason=terminated.get("reason", ""),
        began=moment(terminated.get("startedAt")),
        at=moment(terminated.get("finishedAt")),
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


def _agent(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((each for each in spec.get("containers") or () if each["name"] == names.AGENT), {})


def _limits(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return (_agent(spec).get("resources") or {}).get("limits") or {}


def _said(statuses: Any) -> str:
    for each in statuses:
        if ended := (each.get("state") or {}).get("terminated"):
            return str(ended.get("message") or "")
    return ""
