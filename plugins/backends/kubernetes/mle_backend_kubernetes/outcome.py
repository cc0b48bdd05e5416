"""A run's status, from what the cluster reports about its pod and its Job. Pure.

An end counts as the agent's doing unless the cluster evicted the pod, or something outside the sandbox killed its first
process. The pod has the most detail; once it is gone, its Job still has the reason, recorded by its failure policy.
"""

from __future__ import annotations

import re
import signal
from datetime import UTC, datetime, timedelta

from attrs import evolve

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster_cache import Condition, Job, Pod
from mlecore.model.backends import ARGV_KILLED, INIT_KILLED, LOST_SIGHT, JobStatus
from mlecore_sandboxes.containers import OVERTIME, STOPPED, exited, lost, of_code

LOST_NODE = 60.0  # seconds beyond its time to end after which a pod that is being deleted has lost its node
_BY_SIGNAL = (INIT_KILLED, LOST_SIGHT, ARGV_KILLED, 128 + signal.SIGTERM)  # how the cluster ends a pod
_CODE = re.compile(r"exit code (\d+)")
_LOW = re.compile(r"low on resource: ([\w-]+)")

_IMAGE_FIX = "check its name, push it, or name the secret to pull it with: imagePullSecrets in -B pod-template"


def needs_job(pod: Pod) -> bool:
    """Is its Job needed to tell why it ended? It was deleted, perhaps by Backend.stop()."""
    return pod.gone or pod.deleting is not None


def is_over(pod: Pod) -> bool:
    return pod.gone or pod.ended is not None or pod.finished


def of_pod(pod: Pod, job: Job | None) -> JobStatus:
    """Status by a pod, deleted or not. Pass its Job if ``needs_job``; None: the Job is gone, too."""
    stopped = job is not None and job.stopped
    if pod.ended is not None:
        return _of_agent(pod, stopped)
    if pod.finished or pod.gone:
        return _never_ended(pod, job, stopped)
    if pod.deleting is not None and pod.deleting + timedelta(seconds=LOST_NODE) < datetime.now(UTC):
        return lost(None, f"its node {pod.node} does not answer, and the cluster has abandoned its pod")
    if pod.running:
        return JobStatus(phase="running")
    fix = f" ({_IMAGE_FIX})" if pod.stuck and "Image" in pod.waiting else ""
    return JobStatus(phase="pending", reason=f"{pod.waiting}{fix}", stuck=pod.stuck)


def _of_agent(pod: Pod, stopped: bool) -> JobStatus:
    assert pod.ended is not None
    seconds = (pod.ended.at - pod.ended.started).total_seconds() if pod.ended.at and pod.ended.started else None
    return evolve(_how_it_ended(pod, stopped), seconds=seconds)


def _how_it_ended(pod: Pod, stopped: bool) -> JobStatus:
    """The agent's container has ended, and its exit code is known."""
    assert pod.ended is not None
    code = pod.ended.code
    if stopped:
        return exited(code, STOPPED)
    if pod.disruption:
        return _disrupted(pod, code)
    if pod.reason == "DeadlineExceeded":
        return exited(code, OVERTIME, timed_out=True)
    if pod.reason == "Evicted":  # without a disruption: the pod exceeded its own limit
        return exited(code, pod.message or "evicted: over its disk limit")
    if pod.ended.reason == "OOMKilled" and code not in (0, 124):
        return exited(code, "out of memory", oom=True)
    if pod.ended.reason == "ContainerStatusUnknown":
        return evolve(of_code(LOST_SIGHT), exit_code=code)
    if pod.ended.reason in ("StartError", "ContainerCannotRun"):
        return exited(code, "init could not start; the image may lack /bin/sh")
    if needs_job(pod) and code not in (LOST_SIGHT, INIT_KILLED):
        return lost(code, "somebody deleted its pod")
    return of_code(code)


def _disrupted(pod: Pod, code: int | None) -> JobStatus:
    """The cluster evicted the pod. This may be the pod's own doing if it had no limit."""
    short = _LOW.search(pod.message or pod.disruption_message)
    could_limit = short is not None and short[1] in ("memory", "ephemeral-storage")
    if pod.disruption == "TerminationByKubelet" and short and could_limit and short[1] not in pod.limits:
        reason = f"evicted: its node ran short of {short[1]}, and the run had no limit"
        return exited(code, reason, oom=short[1] == "memory")
    why = f"the cluster evicted its pod ({pod.disruption}): {pod.disruption_message or pod.message}"
    if pod.disruption == "PreemptionByScheduler":
        return lost(code, f"the cluster preempted it: {pod.disruption_message}", preempted=True)
    # The pod may have caused the shortage all the same, e.g. of inodes, which have no limit.
    return lost(code, why, in_doubt=pod.disruption == "TerminationByKubelet" and short is not None)


def _never_ended(pod: Pod, job: Job | None, stopped: bool) -> JobStatus:
    """The pod has ended, and it is unknown how the agent's container ended, or it never started."""
    if pod.disruption:
        return _disrupted(pod, None)
    if pod.reason == "Evicted":
        return exited(ARGV_KILLED, pod.message or "evicted: over its disk limit")
    if pod.reason == "DeadlineExceeded":
        return exited(None, OVERTIME, timed_out=True)
    if pod.gone and job is not None:
        found = of_job(job)
        if found.phase == "pending" and pod.running:
            return lost(None, "its pod was deleted, or its queue gave its place to another run")
        return found
    if stopped:
        return exited(None, STOPPED)
    return lost(None, pod.message or pod.waiting or "its pod ended before the agent did")


def of_job(job: Job) -> JobStatus:
    """Status by a Job that has no pod."""
    if job.deleting:
        return JobStatus(phase="gone", reason="its Job is being deleted")
    if job.stopped:
        return exited(_code(job), STOPPED)
    if "Complete" in job.conditions or "SuccessCriteriaMet" in job.conditions:
        return exited(0, "")
    failed = job.conditions.get("Failed") or job.conditions.get("FailureTarget")
    if failed is not None:
        return _failed(failed)
    if job.suspended:
        if not job.started and not job.ready:
            return JobStatus(phase="pending", reason="is being set up")
        queue = job.labels.get(names.QUEUE)
        return JobStatus(phase="pending", reason=f"waits in the queue {queue}" if queue else "is suspended")
    return JobStatus(phase="pending", reason="waits for its pod")


def _failed(condition: Condition) -> JobStatus:
    reason, message = condition.reason, condition.message
    if reason == "PodFailurePolicy" and (found := _CODE.search(message)):
        code = int(found[1])
        if code in _BY_SIGNAL:
            return lost(code, "somebody deleted its pod")  # which an agent cannot do
        return exited(code, f"exit code {code}")
    if reason == "PodFailurePolicy":
        return lost(None, f"the cluster evicted its pod: {message}")
    if reason == "DeadlineExceeded":
        return lost(None, "it waited longer for resources or for its files than -B wait allows")
    return lost(None, f"its pod is gone: {message or reason}")


def _code(job: Job) -> int | None:
    for message in job.messages:
        if found := _CODE.search(message):
            return int(found[1])
    return None
