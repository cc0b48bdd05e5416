"""How an attempt ended, by what is known outside its sandbox.

The backend knows how its job ended, and how long that took. What init reported from inside (exit.json) can be forged,
so it only makes exact what is known already: it never turns an outcome into another, or into a retry.
"""

from __future__ import annotations

from attrs import field, frozen

from mlecore.backends import SUBSTITUTES, JobStatus
from mlecore.controller import collect
from mlecore.controller.endpoint_failures import judge
from mlecore.redaction import redacted
from mlecore.runs.record import Availability, Ended, RunRecord, moment

_CLOCKS_DIFFER = 5.0  # seconds that a sandbox may take to be made, and to end
_CLOCKS_DRIFT = 0.01  # part by which clocks may differ besides: one may not run while the machine sleeps
_TIME_UP = 124  # init's exit code when the time was up; an agent may exit with it, too
_ROUNDING = 1.0  # seconds; some backends count whole ones


@frozen(kw_only=True)
class End:
    """How an attempt ended."""

    ended: Ended
    reason: str = field(default="", converter=redacted)  # the same in words
    infra_failure: bool = False
    in_doubt: bool = False  # an infrastructure failure that the agent may have caused
    unconfirmed: bool = False  # no call was answered, and the gateway has seen no failure: no retry


def judge_attempt(
    record: RunRecord,
    status: JobStatus,
    *,
    cancelled: bool,
    fetched: bool,
    found: Availability | None,
    retries: int,
) -> End:
    """How the last attempt ended and whether it is repeated: the one judgement, by its job and by its endpoint.

    ``found`` is how its model calls fared, None if that is not known; ``retries`` is the number the plan allows.
    """
    end = settle_doubt(attempt_end(record, status, cancelled, fetched), record)
    if found is None or cancelled or end.infra_failure:
        return end
    may_doubt = not any(each.in_doubt for each in record.attempts[:-1]) and infra_failures(record) < retries
    handed_in = collect.choose(collect.attempt_folder(record) / "result", record.candidates) is not None
    verdict = judge(found, record.limits.time, end.ended, handed_in=handed_in, may_doubt=may_doubt)
    return End(
        ended=end.ended,
        reason="; ".join(filter(None, (verdict.reason, end.reason))),
        infra_failure=verdict.repeat,
        in_doubt=end.in_doubt or verdict.in_doubt,
        unconfirmed=verdict.unconfirmed,
    )


def infra_failures(record: RunRecord) -> int:
    """Infrastructure failures that count against the retries."""
    later = (attempt for attempt in record.attempts if attempt.number > record.retry_from)
    return sum(attempt.infra_failure and not attempt.preempted for attempt in later)


def attempt_end(record: RunRecord, status: JobStatus, cancelled: bool, fetched: bool) -> End:
    """How an attempt ended, and whose doing that was. ``fetched``: its files were fetched, with init's report."""
    assert record.attempt
    if cancelled:
        return End(ended="stopped", reason="cancelled")
    if status.phase == "gone" and not fetched:
        why = status.reason or f"the backend no longer has the job {record.attempt.job}"
        return End(ended="lost", reason=why, infra_failure=True, in_doubt=status.in_doubt)
    if status.infra_failure:
        why = status.reason or "the backend ended it"
        return End(ended="lost", reason=why, infra_failure=True, in_doubt=status.in_doubt)
    if status.oom:
        return End(ended="oom", reason=status.reason or "it ran out of memory")
    if _time_was_up(record, status):
        time_up = f"its time limit of {record.limits.time:g} s was up"
        return End(ended="timed_out", reason="; ".join(dict.fromkeys(filter(None, (time_up, status.reason)))))
    code = exit_code(status, collect.read_exit(record) if fetched else collect.Exit())
    if code is None:
        why = status.reason or "the backend cannot say how it ended"
        return End(ended="lost", reason=why, infra_failure=True, in_doubt=True)
    if code == 0:
        return End(ended="finished")
    if 128 < code < 193:
        return End(ended="crashed", reason=status.reason or f"killed by signal {code - 128}")
    if code == _TIME_UP:
        return End(ended="crashed", reason=f"exit code {code} before its time was up")
    return End(ended="crashed", reason=status.reason or f"exit code {code}")


def settle_doubt(end: End, record: RunRecord) -> End:
    """What is in doubt is retried once: a second such end of a run counts against its agent."""
    earlier = (each for each in record.attempts[:-1] if each.number > record.retry_from)
    if not (end.in_doubt and any(each.in_doubt for each in earlier)):
        return end
    words = f"{end.reason}; whose doing that was is in doubt for the second time, so it counts as the agent's"
    return End(ended="crashed", reason=words, in_doubt=True)


def _time_was_up(record: RunRecord, status: JobStatus) -> bool:
    """Did the backend end it for its time, or did init, as its exit code says, after so long by the clock outside?"""
    if status.timed_out:
        return True
    if status.exit_code != _TIME_UP:
        return False
    longest = status.seconds if status.seconds is not None else _between(record)
    return longest is None or longest >= record.limits.time * (1 - _CLOCKS_DRIFT) - _ROUNDING


def _between(record: RunRecord) -> float | None:
    """Seconds from the start of the last attempt until its end was noticed, perhaps long afterwards.

    None where this is not known: the wall clock was put back meanwhile.
    """
    assert record.attempt
    started, ended = moment(record.attempt.started_at), moment(record.attempt.ended_at)
    return None if started is None or ended is None or ended < started else (ended - started).total_seconds()


def time_used(
    record: RunRecord, status: JobStatus, reported: collect.Exit, watched: float | None
) -> tuple[float | None, str]:
    """Seconds that an attempt took, and in words where the sandbox reported something else than was counted outside.

    init's own count is the exact one, and the clock outside decides whether it is believed: an agent can forge it.
    ``watched`` is for how long the controller saw it run. A backend that kept no time leaves it at least so long, and
    at most until its end was noticed.
    """
    least = most = status.seconds
    if status.seconds is None:
        least, most = watched, _between(record)
    best, inside = least if least is not None else most, reported.seconds
    if inside is None or best is None:
        return best, ""
    if (least is None or inside >= least - _slack(least)) and (most is None or inside <= most + _slack(most)):
        return inside, ""
    return best, f"its sandbox reported {inside:g} s, and {best:g} s were counted outside"


def _slack(seconds: float) -> float:
    """By how much two clocks may differ after so long."""
    return _CLOCKS_DIFFER + _CLOCKS_DRIFT * seconds


def exit_code(status: JobStatus, reported: collect.Exit) -> int | None:
    """Of the agent's process: the backend's word. Where init exits with a substitute, its report says which it was."""
    code = status.exit_code
    if code is None or (code in SUBSTITUTES and reported.exit_code == code):
        return code
    return SUBSTITUTES.get(code, code)
