"""What follows when a step fails: waited for, tried again, or given up, each in its case."""

from __future__ import annotations

import errno

import pytest

from mlecore.controller.context import Timing
from mlecore.controller.experiment import Missing
from mlecore.controller.run import retry_delay
from mlecore.errors import BackendError, BackendUnreachable, GradingError

TIMING = Timing()
DISK = OSError("no space left")
AWAY = BackendUnreachable("no answer")


def after(tries: int, error: Exception, *, starting: bool = False, answers: bool = True) -> float | None:
    return retry_delay(error, tries, TIMING, starting=starting, answers_there=lambda: answers)


@pytest.mark.parametrize("starting", [True, False])
def test_a_backend_that_does_not_answer_is_waited_for_without_end(starting):
    assert after(1, AWAY, starting=starting) == TIMING.step_delay
    assert after(3, AWAY, starting=starting) == 4 * TIMING.step_delay
    assert after(10**6, AWAY, starting=starting) == TIMING.step_delay_max


def test_a_disk_is_waited_for_but_keeps_a_run_from_starting_only_so_often():
    assert after(10**6, DISK) == TIMING.step_delay_max
    assert after(TIMING.start_tries - 1, DISK, starting=True)
    assert after(TIMING.start_tries, DISK, starting=True) is None


@pytest.mark.parametrize("name", ["EEXIST", "ENAMETOOLONG", "ENOTDIR", "EISDIR", "ELOOP"])
def test_a_file_in_a_wrong_place_is_not_waited_for(name):
    error = OSError(getattr(errno, name), "cannot be repeated away")
    assert after(1, error)
    assert after(TIMING.step_tries, error) is None


@pytest.mark.parametrize("error", [BackendError("no"), RuntimeError("a bug of the agent")])
def test_a_run_that_cannot_start_is_given_up_at_once(error):
    assert after(1, error, starting=True) is None
    assert after(TIMING.step_tries - 1, error) and after(TIMING.step_tries, error) is None


def test_what_is_not_installed_is_not_waited_for():
    assert after(1, Missing("no such agent")) is None


def test_grading_is_tried_again_once_and_while_its_answers_are_away():
    error = GradingError("a bug")
    assert after(1, error)
    assert after(2, error) is None
    assert after(2, error, answers=False)
    assert after(TIMING.step_tries, error, answers=False) is None
