"""Decides whether an attempt failed because its model could not be reached, from what its gateway logged.

The gateway confirms each failure of the endpoint by a call of its own (mlecore_gateway/faults.py), so nothing that an
agent sends makes one. Scores play no part: repeating bad results and keeping good ones would favor agents whose
endpoint is bad. For the same reason a case of doubt is repeated only once.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from mlecore.model_access import ModelAccess
from mlecore.runs.record import Availability, Ended, moment
from mlecore.units import counted, show_duration

SHARE = 0.25
"""Of the time limit. An agent that loses less still shows what it can do; one that loses more has had another test."""
LONGEST_GAP = 600.0
"""Seconds between two failed calls that count as a failure: clients that wait before they try again wait for less."""
LASTING = 60.0
"""Seconds that a failure at an attempt's end must have lasted to explain it: agents have to bear shorter ones."""


@frozen(kw_only=True)
class Verdict:
    """What follows for an attempt."""

    reason: str = ""  # in words, for the record; empty if there is nothing to say
    repeat: bool = False  # it is an infrastructure failure
    unconfirmed: bool = False  # the agent can cause it: it is no result, but gets no other attempt either
    in_doubt: bool = False  # the endpoint failed at its end, and perhaps it ended badly for another reason


def availability(log: Path, access: ModelAccess) -> Availability | None:
    """How a gateway's calls to its models fared; None if there is no log."""
    from mlecore_gateway.ledger import read_calls
    from mlecore_gateway.places import api_of

    if not log.is_file():
        return None
    base = urlsplit(access.endpoint).path.rstrip("/")
    tried = answered = failed = rejected = 0
    failing, at_end, last_error = 0.0, 0.0, ""
    works_until = fails_until = 0.0  # when an answer, and a failure after it, was last seen (Unix time); 0: never
    for call in read_calls(log):
        if not call.reached or call.method != "POST" or api_of(call.path, base) is None:
            continue
        tried += 1
        started = moment(call.time)
        start = started.timestamp() if started else 0.0
        end = start + call.seconds
        if call.fault:
            failed, last_error = failed + 1, call.fault
            gap = min(max(0.0, start - fails_until), LONGEST_GAP) if fails_until else 0.0
            more = gap + max(0.0, end - max(start, fails_until, works_until))
            failing, at_end = failing + more, at_end + more
            fails_until = max(fails_until, end)
        elif call.status == 429 or (call.outcome == "cut" and call.first_byte is None):  # says nothing of an outage
            busy = f"status 429 ({call.reason})" if call.reason else "status 429"
            last_error = last_error or ("no answer came" if call.outcome == "cut" else busy)
        else:
            good = call.outcome != "failed" and (call.status or 200) < 400
            answered, rejected = answered + good, rejected + (not good)
            works_until, fails_until, at_end = max(works_until, end), 0.0, 0.0
    return Availability(
        tried=tried,
        answered=answered,
        failed=failed,
        rejected=rejected,
        failing_seconds=round(failing, 3),
        failing_at_end=round(at_end, 3),
        failed_last=bool(fails_until),
        last_error=last_error,
    )


def judge(found: Availability, time_limit: float, ended: Ended, *, handed_in: bool, may_doubt: bool = True) -> Verdict:
    """Is the endpoint to blame for how an attempt ended? ``may_doubt``: may a case of doubt be repeated?"""
    if found.tried and not found.answered and not found.rejected:
        words = f"none of {counted(found.tried, 'model call')} was answered: {found.last_error}"
        return Verdict(reason=words, repeat=True, in_doubt=not found.failed, unconfirmed=not found.failed)
    if found.failing_seconds > SHARE * time_limit:
        share = found.failing_seconds / time_limit
        lost = f"{show_duration(found.failing_seconds)}, {share:.0%} of the time limit"
        return Verdict(reason=f"model calls failed for {lost}: {found.last_error}", repeat=True)
    if not found.failed_last:
        return Verdict()
    ended_badly = ended == "crashed" or (ended in ("finished", "timed_out") and not handed_in)
    in_doubt = may_doubt and ended_badly and found.failing_at_end >= LASTING
    words = f"its last model calls failed: {found.last_error}"
    return Verdict(reason=words, repeat=in_doubt, in_doubt=in_doubt)
