"""Runs whose job is ended by Slurm, administrators or failures: whose doing that is, and that none runs twice."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from mlecore.model.backends import Handle

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.sandbox]

LONG = "echo ready; sleep 600"


def _running(lab: Lab, **changes: object) -> tuple[Handle, str]:
    handle = lab.start(LONG, **changes)
    lab.said(handle, "ready")
    return handle, lab.task(handle)


def test_a_job_that_somebody_cancels_is_retried(lab: Lab) -> None:
    handle, task = _running(lab)
    lab.slurm("scancel", task)
    status = lab.wait(handle)
    assert status.infra_failure and not status.preempted and "cancelled, not by mlecore" in status.reason, status


def test_a_job_that_is_preempted_counts_for_nobody(make_lab: Callable[..., Lab], not_kept: dict[str, str]) -> None:
    lab = make_lab(partition="low", **not_kept)
    handle, task = _running(lab)
    node = lab.slurm("squeue", "--noheader", "--job", task, "--format=%N").strip()
    lab.slurm("sbatch", "--partition=main", f"--nodelist={node}", "--exclusive", "--time=1", "--output=/dev/null",
           "--wrap", "true")  # fmt: skip
    status = lab.wait(handle)
    assert status.infra_failure and status.preempted and node in status.reason, status


def test_a_job_that_is_requeued_does_not_run_twice(lab: Lab) -> None:
    handle, task = _running(lab)
    lab.slurm("scontrol", "update", f"jobid={task}", "requeue=1")
    lab.slurm("scontrol", "requeue", task)
    status = lab.wait(handle)
    assert status.infra_failure and status.preempted, status
    assert lab.output(handle).count(b"ready") == 1
    lab.backend.remove(handle)
    lab.until(lambda: task not in lab.slurm("squeue", "--noheader", "--array", "--format=%F_%K"))


def test_a_supervisor_that_is_killed_is_noticed(lab: Lab) -> None:
    handle, _ = _running(lab)
    state = lab.entry(handle).state()
    assert state is not None
    os.kill(int(state["pid"]), signal.SIGKILL)
    status = lab.wait(handle)
    assert status.infra_failure and "FAILED" in status.reason, status


def test_a_node_that_fails_is_no_fault_of_the_agents(make_lab: Callable[..., Lab], not_kept: dict[str, str]) -> None:
    lab = make_lab(**not_kept)
    handle, task = _running(lab)
    node = lab.slurm("squeue", "--noheader", "--job", task, "--format=%N").strip()
    try:
        lab.slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        status = lab.wait(handle)
        assert status.infra_failure and "node failed" in status.reason, status
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):  # it has come back by itself
            lab.slurm("scontrol", "update", f"nodename={node}", "state=resume")


def test_what_sbatch_rejects_waits_with_its_words(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(partition="nowhere")
    handle = lab.start()
    status = lab.until(lambda: next((s for s in [lab.status(handle)] if s.stuck), None))
    assert status.phase == "pending" and "nvalid partition" in status.reason and "sinfo" in status.reason
    (problem,) = lab.backend.preflight()
    assert problem.fatal and "nvalid partition" in problem.description
