"""How an attempt ended, from what the backend says of its job and what init reported from inside."""

from __future__ import annotations

from mlecore.backends import SUBSTITUTES, JobStatus
from mlecore.controller import collect
from mlecore.runs.record import Ended, RunRecord

_CLOCKS_DIFFER = 5.0  # seconds that a sandbox may take to be made, and to end
_CLOCKS_DRIFT = 0.01  # part by which clocks may differ besides: one may not run while the machine sleeps
INIT_TIME_UP = 124  # init's exit code, for when a full disk kept it from writing exit.json


def attempt_end(record: RunRecord, status: JobStatus, cancelled: bool, fetched: bool) -> tuple[Ended, str, bool]:
    """How an attempt ended, why in words, and whether it was an infrastructure failure.

    ``fetched``: its files were fetched, with init's report.
    """
    assert record.attempt
    if cancelled:
        return "stopped", "cancelled", False
    if status.phase == "gone" and not fetched:
        return "lost", status.reason or f"the backend no longer has the job {record.attempt.job}", True
    if status.infra_failure:
        return "lost", status.reason or "the backend ended it", True
    reported = collect.read_exit(record) if fetched else collect.Exit()
    code = exit_code(status, reported)
    if status.oom:
        return "oom", status.reason or "it ran out of memory", False
    time_up = f"its time limit of {record.limits.time:g} s was up"
    if reported.timed_out:
        return "timed_out", time_up, False
    if status.timed_out or (status.exit_code == INIT_TIME_UP and reported.exit_code is None):
        return "timed_out", "; ".join(filter(None, (time_up, status.reason))), False
    if code is None:
        return "lost", status.reason or "the backend cannot say how it ended", True
    if code == 0:
        return "finished", "", False
    if 128 < code < 193:
        return "crashed", status.reason or f"killed by signal {code - 128}", False
    return "crashed", status.reason or f"exit code {code}", False


def time_used(status: JobStatus, reported: collect.Exit, watched: float | None) -> tuple[float | None, str]:
    """Seconds that an attempt took, and in words where the sandbox reported something else than was counted outside.

    init's own count is the exact one, and the backend's decides whether it is believed: an agent can forge it.
    ``watched`` is for how long the controller saw it run, for where nobody else counted.
    """
    inside, outside = reported.seconds, status.seconds
    if inside is None or outside is None:
        return next((value for value in (outside, inside, watched) if value is not None), None), ""
    if abs(inside - outside) <= _CLOCKS_DIFFER + _CLOCKS_DRIFT * outside:
        return inside, ""
    return outside, f"its sandbox reported {inside:g} s, and the backend counted {outside:g} s"


def exit_code(status: JobStatus, reported: collect.Exit) -> int | None:
    """Of the agent's process: the backend's word, else what init reported."""
    code = status.exit_code
    if reported.exit_code is not None and (code is None or code in SUBSTITUTES):
        return reported.exit_code
    return code if code is None else SUBSTITUTES.get(code, code)
