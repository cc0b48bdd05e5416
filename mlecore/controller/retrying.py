"""Whether a step of a run that failed is repeated, and when."""

from __future__ import annotations

import errno
from collections.abc import Callable

from mlecore.controller.experiment import Missing
from mlecore.controller.timing import Timing
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


def retry_delay(
    error: Exception, tries: int, timing: Timing, *, starting: bool, answers_there: Callable[[], bool]
) -> float | None:
    """Seconds until a step is repeated, after its ``tries``-th failure; None: it is given up.

    Disk and backend are waited for as long as it takes, since they recover (a wrong file in the way does not); only a
    run that the disk keeps from ``starting`` is given up in the end. Everything else is tried a few times, if that can
    help.
    """
    if isinstance(error, Missing):
        return None
    if isinstance(error, BackendUnreachable):
        return _doubled(timing, tries - 1)
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno not in _LASTING):
        return None if starting and tries >= timing.start_tries else _doubled(timing, tries - 1)
    if starting or tries >= timing.step_tries:
        return None
    if isinstance(error, GradingError):
        # Missing answers may be back by now; a second error is for a person to fix.
        return _doubled(timing, 2 * tries) if tries == 1 or not answers_there() else None
    return _doubled(timing, tries)


def describe(error: Exception) -> str:
    """What went wrong, for a person: the message of our own errors, the type of others."""
    return str(error) if isinstance(error, (MlecoreError, OSError)) else repr(error)


def _doubled(timing: Timing, times: int) -> float:
    """The delay after it was doubled so often."""
    return min(timing.step_delay * 2.0 ** min(times, 20), timing.step_delay_max)
