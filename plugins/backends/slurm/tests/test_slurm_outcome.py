"""How a run's end counts, by its supervisor's last words and Slurm's state."""

from __future__ import annotations

import pytest
from mle_backend_slurm import outcome
from mle_backend_slurm.commands import Seen

TERMINATED = {"phase": "exited", "exit_code": 143, "infra_failure": True, "reason": "its supervisor was terminated"}


@pytest.mark.parametrize(
    ("state", "infra", "preempted", "oom"),
    [
        ("PREEMPTED", True, True, False),
        ("NODE_FAIL", True, False, False),
        ("TIMEOUT", True, False, False),
        ("CANCELLED", True, False, False),
        ("FAILED", True, False, False),
        ("OUT_OF_MEMORY", False, False, True),
        ("", True, False, False),
    ],
)
def test_a_task_that_wrote_no_end(state: str, infra: bool, preempted: bool, oom: bool) -> None:
    status = outcome.of_lost(Seen(state=state, node="box1") if state else None, False, "Killed")
    assert (status.phase, status.infra_failure, status.preempted, status.oom) == ("exited", infra, preempted, oom)
    assert status.reason


def test_a_task_that_mlecore_stopped_is_no_failure_of_the_infrastructure() -> None:
    assert not outcome.of_lost(Seen(state="CANCELLED"), True, "").infra_failure


def test_slurm_says_why_a_supervisor_was_terminated() -> None:
    status = outcome.of_exited(TERMINATED, Seen(state="PREEMPTED", node="box1"), None)
    assert status.preempted and status.reason == "Slurm preempted it on box1"
    assert outcome.of_exited(TERMINATED, None, None).reason == TERMINATED["reason"]


def test_a_supervisor_that_was_terminated_by_a_requeue_uses_up_no_retry() -> None:
    status = outcome.of_exited(TERMINATED, Seen(state="PENDING", reason="BeginTime"), None)
    assert status.infra_failure and status.preempted and "requeued" in status.reason


def test_what_the_agent_did_stays_its_doing_whatever_slurm_says() -> None:
    state = {"phase": "exited", "exit_code": 1, "infra_failure": False}
    status = outcome.of_exited(state, Seen(state="PREEMPTED"), None)
    assert (status.exit_code, status.infra_failure, status.preempted) == (1, False, False)
    assert outcome.is_settled(state) and not outcome.is_settled(TERMINATED)


@pytest.mark.parametrize(
    ("reason", "stuck"),
    [
        ("Resources", False),
        ("Priority", False),
        ("JobHeldAdmin", False),
        ("AssocMaxJobsLimit", False),
        ("QOSNotAllowed", True),
    ],
)
def test_a_waiting_task(reason: str, stuck: bool) -> None:
    status = outcome.of_waiting(Seen(state="PENDING", reason=reason))
    assert (status.phase, status.stuck) == ("pending", stuck) and reason in status.reason
