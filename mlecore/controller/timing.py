"""How long the controller waits for what, and whether it repeats a step that failed."""

from __future__ import annotations

import errno
from collections.abc import Callable

from attrs import frozen

from mlecore.controller.experiment import Missing
from mlecore.errors import BackendUnreachable, DiskError, GradingError

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


@frozen(kw_only=True)
class Timing:
    """The controller's delays, in seconds."""

    poll_min: float = 0.1
    poll_max: float = 10.0
    poll_share: float = 0.1  # of the age of the youngest job
    slow: float = 3.0  # before a preparation that takes longer is reported
    pending: float = 2.0  # before a job that does not run yet counts as waiting
    stuck: float = 300.0  # before a run is failed whose job waits for what does not come by itself
    step_delay: float = 1.0  # before a step that failed because of the disk or the backend is repeated; doubles
    step_delay_max: float = 60.0
    attempt_delay: float = 15.0  # before a new attempt; doubles
    attempt_delay_max: float = 600.0
    step_tries: int = 4  # of a step that fails for another reason
    start_tries: int = 10  # before a run is failed that the disk keeps from starting
    overdue: float = 120.0  # beyond limit and grace, before a job whose init has died is stopped from here
    requests: float = 1.0  # between two checks for requests
    drain: float = 10.0  # for steps in progress, when the controller is asked to stop
    deliver: float = 60.0  # for each next event to reach the extensions, when all runs have ended


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


def _doubled(timing: Timing, times: int) -> float:
    """The delay after it was doubled so often."""
    return min(timing.step_delay * 2.0 ** min(times, 20), timing.step_delay_max)
