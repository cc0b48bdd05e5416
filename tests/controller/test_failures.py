"""What follows when a step fails: waited for, tried again, or given up, each in its case."""

from __future__ import annotations

import errno

import pytest

from mlecore.backends import JobStatus
from mlecore.controller.failures import Abandon, CountAsLost, Fail, FolderGone, Leave, Retry, decide, describe
from mlecore.controller.state import ActiveRun, Timing
from mlecore.errors import BackendError, BackendUnreachable, GradingError
from mlecore.registry.provenance import PluginUse
from mlecore.runs.record import RunRecord

TIMING = Timing()
DISK = OSError("no space left")
AWAY = BackendUnreachable("no answer")
EXITED = JobStatus(phase="exited")


def after(phase: str, tries: int, error: Exception, *, answers: bool = True, status: JobStatus | None = None):
    use = PluginUse(name="x")
    record = RunRecord(uid="u", name="r", group="g", group_uid="g", competition="c", agent=use, backend=use)
    run = ActiveRun(record, phase, tries=tries, status=status)
    return decide(run, error, TIMING, lambda: answers)


@pytest.mark.parametrize("phase", ["starting", "collecting", "grading", "closing"])
def test_a_backend_that_does_not_answer_is_waited_for_without_end(phase):
    assert after(phase, 1, AWAY) == Retry(TIMING.step_delay)
    assert after(phase, 3, AWAY) == Retry(4 * TIMING.step_delay)
    assert after(phase, 10**6, AWAY) == Retry(TIMING.step_delay_max)


def test_a_disk_is_waited_for_but_keeps_a_run_from_starting_only_so_often():
    assert after("grading", 10**6, DISK) == Retry(TIMING.step_delay_max)
    assert isinstance(after("starting", TIMING.start_tries - 1, DISK), Retry)
    assert after("starting", TIMING.start_tries, DISK) == Fail()


@pytest.mark.parametrize("name", ["EEXIST", "ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP"])
def test_a_file_in_a_wrong_place_is_not_waited_for(name):
    error = OSError(getattr(errno, name), "cannot be repeated away")
    assert isinstance(after("collecting", 1, error, status=EXITED), Retry)
    assert after("collecting", TIMING.step_tries, error, status=EXITED) == CountAsLost()
    assert after("grading", TIMING.step_tries, error) == Leave()


@pytest.mark.parametrize("error", [BackendError("no"), RuntimeError("a bug of the agent")])
def test_a_run_that_cannot_start_fails_at_once(error):
    assert after("starting", 1, error) == Fail()


def test_what_cannot_be_fetched_counts_as_lost_after_some_tries():
    error = BackendError("broken archive")
    assert isinstance(after("collecting", TIMING.step_tries - 1, error, status=EXITED), Retry)
    assert after("collecting", TIMING.step_tries, error, status=EXITED) == CountAsLost()
    assert after("collecting", TIMING.step_tries, error, status=JobStatus(phase="gone")) == Leave()


def test_grading_is_tried_again_once_and_while_its_answers_are_away():
    error = GradingError("a bug")
    assert isinstance(after("grading", 1, error), Retry)
    assert after("grading", 2, error) == Leave()
    assert isinstance(after("grading", 2, error, answers=False), Retry)
    assert after("grading", TIMING.step_tries, error, answers=False) == Leave()


def test_a_deleted_folder_is_not_made_again():
    assert after("collecting", 1, FolderGone()) == Abandon()


def test_errors_in_words():
    assert describe(GradingError("the answers are away")) == "the answers are away"
    assert describe(ValueError("x")) == "ValueError('x')"
