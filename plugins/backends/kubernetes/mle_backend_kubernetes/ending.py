"""How a run is, from what the cluster says of its pod and its Job. Pure.

A run is the agent's own doing unless the cluster says that it took the pod away, or somebody from outside ended its
first process. The pod says it best; when it is gone, its Job still has the reason, through its failure policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from mle_backend_kubernetes import names
from mle_backend_kubernetes.seen import Pod
from mlecore.backends import ARGV_KILLED, INIT_KILLED, LOST_SIGHT, JobStatus

LOST_NODE = 60.0  # seconds beyond its time to end after which a pod that is being deleted has lost its node
_CODE = re.compile(r"exit code (\d+)")
_LOW = re.compile(r"low on resource: ([\w-]+)")


def needs_job(pod: Pod) -> bool:
    """Does its Job know better why it ended? Somebody deleted it: perhaps we did."""
    return pod.gone or pod.deleting is not None


def of_pod(pod: Pod, job: Mapping[str, Any] | None) -> JobStatus:
    """Of a pod that is or was there; ``job`` where ``needs_job``, None: that is gone, too."""
    stopped = job is not None and names.STOPPED in (job["metadata"].get("annotations") or {})
    if pod.ended is not None:
        return _of_agent(pod, stopped)
    if pod.phase in ("Failed", "Succeeded") or pod.gone:
        return _never_ended(pod, job, stopped)
    if pod.deleting is not None and pod.deleting + timedelta(seconds=LOST_NODE) < datetime.now(UTC):
        return _lost(None, f"its node {pod.node} does not answer, and the cluster has given its pod up")
    if pod.running:
        return JobStatus(phase="running")
    return JobStatus(phase="pending", reason=pod.waiting)


def _of_agent(pod: Pod, stopped: bool) -> JobStatus:
    """The agent's container has ended, and its exit code is known."""
    assert pod.ended is not None
    code = pod.ended.code
    if stopped:
        return JobStatus(phase="exited", exit_code=code, reason="stopped by mlecore")
    if pod.disruption:
        return _disrupted(pod, code)
    if pod.reason == "DeadlineExceeded":
        return JobStatus(phase="exited", exit_code=code, timed_out=True, reason=_DEADLINE)
    if pod.reason == "Evicted":  # without a disruption: the kubelet says that the pod went beyond its own limit
        return JobStatus(phase="exited", exit_code=code, reason=pod.message or "evicted for what it wrote")
    if pod.ended.reason == "OOMKilled" and code not in (0, 124):
        return JobStatus(phase="exited", exit_code=code, oom=True, reason="out of memory")
    if pod.ended.reason == "ContainerStatusUnknown" or code == LOST_SIGHT:
        return _lost(code, "its node lost sight of it")
    if pod.ended.reason in ("StartError", "ContainerCannotRun"):
        return JobStatus(phase="exited", exit_code=code, reason="init could not start; the image may lack /bin/sh")
    if code == INIT_KILLED:
        return _lost(code, "its first process was killed from outside the sandbox")
    if needs_job(pod):
        return _lost(code, "somebody deleted its pod")
    if code == 124:
        return JobStatus(phase="exited", exit_code=code, reason="its time was up")
    words = {0: "", ARGV_KILLED: "killed by signal 9, by another process of the job or the kernel"}
    return JobStatus(phase="exited", exit_code=code, reason=words.get(code, f"exit code {code}"))


_DEADLINE = "the time limit passed and init did not end the job"


def _disrupted(pod: Pod, code: int | None) -> JobStatus:
    """The cluster took the pod from its node. It may be so by the pod's own doing, where that had no limit."""
    short = _LOW.search(pod.message or pod.disruption_message)
    if pod.disruption == "TerminationByKubelet" and short and short[1] in pod.unlimited:
        reason = f"evicted: its node ran short of {short[1]}, of which the run had no limit"
        return JobStatus(phase="exited", exit_code=code, oom=short[1] == "memory", reason=reason)
    return _lost(code, f"the cluster took its pod away ({pod.disruption}): {pod.disruption_message or pod.message}")


def _never_ended(pod: Pod, job: Mapping[str, Any] | None, stopped: bool) -> JobStatus:
    """The pod is at its end, and nobody saw how the agent's container ended, or it never began."""
    if pod.disruption:
        return _disrupted(pod, None)
    if pod.reason == "Evicted":
        return JobStatus(phase="exited", reason=pod.message or "evicted for what it wrote")
    if pod.reason == "DeadlineExceeded":
        return JobStatus(phase="exited", timed_out=True, reason=_DEADLINE)
    if pod.gone and job is not None:
        found = of_job(job)
        if found.phase == "pending" and pod.running:
            return _lost(None, "its pod was deleted, or its queue took it back for another run")
        return found
    if stopped:
        return JobStatus(phase="exited", reason="stopped by mlecore")
    return _lost(None, pod.message or pod.waiting or "its pod ended before the agent did")


def of_job(job: Mapping[str, Any]) -> JobStatus:
    """Of a Job without a pod."""
    meta, status = job["metadata"], job.get("status") or {}
    if meta.get("deletionTimestamp"):
        return JobStatus(phase="gone", reason="its Job is being deleted")
    if names.STOPPED in (meta.get("annotations") or {}):
        return JobStatus(phase="exited", exit_code=_code(status), reason="stopped by mlecore")
    conditions = {each["type"]: each for each in status.get("conditions") or () if each["status"] == "True"}
    if "Complete" in conditions or "SuccessCriteriaMet" in conditions:
        return JobStatus(phase="exited", exit_code=0)
    failed = conditions.get("Failed") or conditions.get("FailureTarget")
    if failed is not None:
        return _failed(failed)
    if job["spec"].get("suspend"):
        if status.get("startTime") is None and names.READY not in (meta.get("annotations") or {}):
            return JobStatus(phase="pending", reason="is being set up")
        queue = meta["labels"].get(names.QUEUE)
        return JobStatus(phase="pending", reason=f"waits in the queue {queue}" if queue else "is suspended")
    return JobStatus(phase="pending", reason="waits for its pod")


def _failed(condition: Mapping[str, Any]) -> JobStatus:
    reason, message = condition.get("reason", ""), condition.get("message", "")
    if reason == "PodFailurePolicy" and (found := _CODE.search(message)):
        code = int(found[1])
        if code in (INIT_KILLED, LOST_SIGHT):
            return _lost(code, "its first process was killed from outside the sandbox, and its pod is gone")
        return JobStatus(phase="exited", exit_code=code, reason=f"exit code {code}")
    if reason == "PodFailurePolicy":
        return _lost(None, f"the cluster took its pod away: {message}")
    if reason == "DeadlineExceeded":
        return _lost(None, "it waited for room, or for its files, for longer than it may (-B wait)")
    return _lost(None, f"its pod is gone: {message or reason}")


def _code(status: Mapping[str, Any]) -> int | None:
    for condition in status.get("conditions") or ():
        if found := _CODE.search(condition.get("message", "")):
            return int(found[1])
    return None


def _lost(code: int | None, reason: str) -> JobStatus:
    return JobStatus(phase="exited", exit_code=code, infra_failure=True, reason=reason)
