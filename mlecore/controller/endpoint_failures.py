"""Decides whether an attempt failed because its model could not be reached, from what its gateway logged.

The gateway confirms each failure of the endpoint by a call of its own (mlecore/gateway/faults.py), so nothing that an
agent sends makes one. The decision never looks at the submission: repeating bad results and keeping good ones would
favor agents whose endpoint is bad.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from mlecore.model_access import ModelAccess
from mlecore.runs.record import Availability, moment
from mlecore.units import counted, show_duration

SHARE = 0.25
"""Of the time limit. An agent that loses less still shows what it can do; one that loses more has had another test."""
LONGEST_GAP = 600.0
"""Seconds between two failed calls that count as a failure: clients that wait before they try again wait for less."""


def availability(log: Path, access: ModelAccess) -> Availability | None:
    """How a gateway's calls to its models fared; None if there is no log."""
    from mlecore.gateway.ledger import read_calls
    from mlecore.gateway.probe import api_of

    if not log.is_file():
        return None
    base = urlsplit(access.endpoint).path.rstrip("/")
    tried = answered = failed = rejected = 0
    failing, last_error, failed_last = 0.0, "", False
    works_until = fails_until = 0.0  # when an answer, and a failure after it, was last seen (Unix time); 0: never
    for call in read_calls(log):
        if not call.reached or call.method != "POST" or api_of(call.path, base) is None:
            continue
        tried += 1
        begun = moment(call.time)
        start = begun.timestamp() if begun else 0.0
        end = start + call.seconds
        if call.fault:
            failed, last_error, failed_last = failed + 1, call.fault, True
            if fails_until:
                failing += min(max(0.0, start - fails_until), LONGEST_GAP)
            failing += max(0.0, end - max(start, fails_until, works_until))
            fails_until = max(fails_until, end)
        elif call.outcome != "cut" and call.status != 429:  # a client that hangs up and a rate limit say nothing
            good = call.outcome == "passed" and call.status is not None and call.status < 400
            answered, rejected = answered + good, rejected + (not good)
            works_until, fails_until, failed_last = max(works_until, end), 0.0, False
    return Availability(
        tried=tried,
        answered=answered,
        failed=failed,
        rejected=rejected,
        failing_seconds=round(failing, 3),
        last_error=last_error,
        failed_last=failed_last,
    )


def endpoint_failure(found: Availability, time_limit: float) -> str:
    """Why an attempt is to be repeated, in words; empty if its model was there."""
    if found.failed and not found.answered and not found.rejected:
        return f"the model's endpoint answered none of {counted(found.tried, 'call')}: {found.last_error}"
    if found.failing_seconds > SHARE * time_limit:
        share = found.failing_seconds / time_limit
        lost = f"{show_duration(found.failing_seconds)}, {share:.0%} of the time limit"
        return f"the model's endpoint failed for {lost}: {found.last_error}"
    return ""
