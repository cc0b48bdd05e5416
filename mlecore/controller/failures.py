"""Decides what follows when a step of a run fails; `lifecycle` does it."""

from __future__ import annotations

import errno
from collections.abc import Callable

from attrs import frozen

from mlecore.controller.experiment import Missing
from mlecore.controller.state import ActiveRun, Timing
from mlecore.errors import BackendUnreachable, DiskError, GradingError, MlecoreError

_LASTING = {
    errno.EEXIST,
    errno.EINVAL,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
}
"""Errors of the files there, not of the disk: another try would fail too."""


class FolderGone(Exception):
    """A run's folder was deleted by hand while its group is still there."""


@frozen
class Retry:
    """The same step again, after so many seconds."""

    seconds: float


@frozen
class Fail:
    """The run cannot start: it has failed."""


@frozen
class CountAsLost:
    """What the attempt left cannot be fetched: it counts as lost, perhaps by its agent's doing."""


@frozen
class Leave:
    """The run stays as its record says; resuming tries again."""


@frozen
class Abandon:
    """The run's folder was deleted: its job is removed, and nothing more is done for it."""


Decision = Retry | Fail | CountAsLost | Leave | Abandon


def decide(active: ActiveRun, error: Exception, timing: Timing, answers_are_there: Callable[[], bool]) -> Decision:
    """After the ``active.tries``-th failure of its step.

    Disk and backend are waited for as long as it takes, since they recover (a wrong file in the way does not); only a
    run that the disk keeps from starting fails in the end. Everything else is tried a few times, if that can help.
    """
    if isinstance(error, FolderGone):
        return Abandon()
    if isinstance(error, Missing):
        return Leave()
    if isinstance(error, BackendUnreachable):
        return _again(timing, active.tries - 1)
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno not in _LASTING):
        if active.phase == "starting" and active.tries >= timing.start_tries:
            return Fail()
        return _again(timing, active.tries - 1)
    if active.phase == "starting":
        return Fail()
    if isinstance(error, GradingError):
        # Missing answers may be back by now; a second error is for a person to fix.
        hopeful = active.tries == 1 or not answers_are_there()
        return _again(timing, 2 * active.tries) if hopeful and active.tries < timing.step_tries else Leave()
    if active.tries < timing.step_tries:
        return _again(timing, active.tries)
    if active.phase == "collecting" and active.status and active.status.phase != "gone":
        return CountAsLost()
    return Leave()


def describe(error: Exception) -> str:
    """What went wrong, for a person: the message of our own errors, the type of others."""
    return str(error) if isinstance(error, (MlecoreError, OSError)) else repr(error)


def _again(timing: Timing, doublings: int) -> Retry:
    return Retry(min(timing.step_delay * 2.0 ** min(doublings, 20), timing.step_delay_max))
