"""A run's status, from what its supervisor wrote on the shared disk and from what Slurm says of its task. Pure."""

from __future__ import annotations

from typing import Any

from mle_backend_slurm.commands import Seen
from mlecore.model.backends import INIT_KILLED, JobStatus
from mlecore_sandboxes import packing, supervision

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING")
_INFRASTRUCTURE = {
    "PREEMPTED": "Slurm preempted it",
    "NODE_FAIL": "its node failed",
    "BOOT_FAIL": "its node did not boot",
    "TIMEOUT": "Slurm's time limit ended it, which is longer than the run's",
    "DEADLINE": "Slurm's deadline ended it",
    "CANCELLED": "it was cancelled, not by mlecore",
    "REVOKED": "its cluster gave it up",
}
# Not limits that other jobs use up, nodes that are away or holds: they end, even if that takes hours.
_STUCK = (
    "BadConstraints", "AccountNotAllowed", "QOSNotAllowed", "InvalidAccount", "InvalidQOS",
    "PartitionTimeLimit", "PartitionNodeLimit",
)  # fmt: skip


def is_settled(state: dict[str, Any] | None) -> bool:
    """Is it known how the run ended, without asking Slurm? An infrastructure failure may have been a preemption."""
    return state is not None and state["phase"] == "exited" and not state.get("infra_failure")


def of_exited(state: dict[str, Any], seen: Seen | None, sandbox: dict[str, Any] | None) -> JobStatus:
    """By the supervisor's last words; Slurm knows more about an end that came from outside.

    ``sandbox`` is how the node described its sandboxes, packed.
    """
    out: dict[str, Any] = {name: state.get(name) or False for name in ("oom", "timed_out", "infra_failure", "in_doubt")}
    reason = str(state.get("reason", ""))
    if out["infra_failure"] and seen is not None and seen.state in _INFRASTRUCTURE:
        reason = f"{_INFRASTRUCTURE[seen.state]} on {seen.node or 'its node'}"
        out["preempted"] = seen.state == "PREEMPTED"
    elif out["infra_failure"] and seen is not None and seen.state in WAITING:
        return of_requeued(seen)
    return JobStatus(
        phase="exited",
        exit_code=state.get("exit_code"),
        reason=reason,
        seconds=state.get("seconds"),
        hardware=supervision.hardware(state.get("hardware")),
        sandbox=packing.unpack(sandbox) if sandbox else None,
        **out,
    )


def of_waiting(seen: Seen) -> JobStatus:
    """Status of a task that no node has taken."""
    words = f"waits in the queue: {seen.reason}" if seen.reason else "waits in the queue"
    return JobStatus(phase="pending", reason=words, stuck=seen.reason in _STUCK)


def of_lost(seen: Seen | None, stopped: bool, log: str) -> JobStatus:
    """Status of a task that is over without a result from its supervisor; ``log`` is what its program printed last."""
    state = seen.state if seen else ""
    if stopped:
        return JobStatus(phase="exited", exit_code=INIT_KILLED, reason="stopped, and killed with its Slurm job")
    if state == "OUT_OF_MEMORY":
        why = "used more memory than its Slurm job had"
        return JobStatus(phase="exited", exit_code=INIT_KILLED, oom=True, reason=why)
    node = f" on {seen.node}" if seen and seen.node and seen.node != "None assigned" else ""
    why = _INFRASTRUCTURE.get(state) or (
        f"its Slurm job ended as {state}" if state else "Slurm no longer knows its job"
    )
    words = f"{why}{node}" + (f": {log}" if log and state not in _INFRASTRUCTURE else "")
    return JobStatus(phase="exited", infra_failure=True, preempted=state == "PREEMPTED", reason=words)


def of_requeued(seen: Seen) -> JobStatus:
    """Status of a task that had begun and waits again, or was started again: its node does not run it twice."""
    words = f"Slurm requeued its job ({seen.reason or seen.state})"
    return JobStatus(phase="exited", infra_failure=True, preempted=True, reason=words)
