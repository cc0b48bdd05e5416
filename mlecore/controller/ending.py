"""Ending an attempt: its job is stopped, what it left is collected, and the job is removed. Each step can be repeated.

How it ended is judged by what is known outside its sandbox. The backend knows how its job ended, and how long that
took. What init reported from inside (exit.json) can be forged, so it only makes exact what is known already: it never
turns an outcome into another, or into a retry.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

from mlecore.controller import collect
from mlecore.controller.context import Context
from mlecore.controller.experiment import Missing
from mlecore.errors import BackendError, MlecoreError, redacted
from mlecore.model.agents import Usage
from mlecore.model.backends import SUBSTITUTES, Handle, Hardware, JobStatus
from mlecore.model.model_access import ModelAccess
from mlecore.model.record import Availability, Ended, RunRecord, moment
from mlecore.runs import requests
from mlecore.runs.journal import now
from mlecore.runs.measured import difference, measure
from mlecore.runs.outcome import read_outcome
from mlecore.runs.refused import relay_refusals
from mlecore.runs.snapshots import snapshots
from mlecore.runs.store import require_group
from mlecore.util import files
from mlecore.util.units import counted, show_duration
from mlecore_jobs.fetching import GATEWAY_LOG, RELAY_LOG

_CLOCKS_DIFFER = 5.0  # seconds that a sandbox may take to be made, and to end
_CLOCKS_DRIFT = 0.01  # part by which clocks may differ besides: one may not run while the machine sleeps
_TIME_UP = 124  # init's exit code when the time was up; an agent may exit with it, too
_ROUNDING = 1.0  # seconds; some backends count whole ones

SHARE = 0.25
"""A share of the time limit. An agent that loses less still shows what it can do; losing more makes another test."""
LONGEST_GAP = 600.0
"""Seconds between two failed calls that count as a failure: clients that wait before they try again wait for less."""
LASTING = 60.0
"""Seconds that a failure at an attempt's end must have lasted to explain it: agents have to bear shorter ones."""


@frozen(kw_only=True)
class End:
    """How an attempt ended."""

    ended: Ended
    reason: str = field(default="", converter=redacted)  # the same in words
    infra_failure: bool = False
    in_doubt: bool = False  # an infrastructure failure that the agent may have caused
    unconfirmed: bool = False  # no call was answered, and the gateway has seen no failure: no retry


# What a run goes through. All functions block; for any thread.


def finish(context: Context, record: RunRecord, status: JobStatus, seconds: float, cancelled: bool) -> RunRecord:
    """From running, its job being at its end, to collected; or back to planned, or to cancelled or failed.

    ``seconds`` is for how long the controller saw it run.
    """
    assert record.attempt
    handle = record.attempt.handle
    if record.state == "waiting":  # it ran between two looks, if at all
        record = evolve(record, reason="")
        if status.seconds is not None:
            started = datetime.now(UTC) - timedelta(seconds=status.seconds)
            record = record.with_attempt(started_at=started.isoformat(timespec="seconds"))
    if record.state in ("waiting", "running"):
        record = record.with_attempt(ended_at=now(), exit_code=status.exit_code)
        record = context.records.write(evolve(record, state="collecting"))
    require_group(context.group)
    fetched = _fetch(context, record, status)
    record, end = _judged(context, record, status, seconds, cancelled, fetched)
    failures = infra_failures(record)
    if cancelled:
        record = evolve(record, state="cancelled")
    elif end.infra_failure and end.unconfirmed:
        record = evolve(record, state="failed")
    elif end.infra_failure and failures <= context.experiment.plan.execution.retries:
        record = evolve(record, state="planned", ended=None)
    elif end.infra_failure:
        record = evolve(record, state="failed", reason=f"{record.reason} (attempt {failures}, no retry left)")
    else:
        record = evolve(_with_usage(context, collect.lay_out(record)), state="collected")
        _restore_names(context, record)
        reasons = filter(None, (record.reason, collect.why_no_submission(record)))
        record = evolve(record, reason="; ".join(reasons))
    context.records.write(record, ended=record.ended, reason=record.reason)
    if cancelled:
        requests.remove(context.group.folder, record.name)
    if record.state != "planned":
        context.extensions.put("run_finished", record)
    if handle:
        _remove(context, handle)
    return record


def remove_job(context: Context, handle: Handle) -> None:
    """End and remove a job, with its output."""
    context.experiment.backend.stop(handle, 0.0)
    _remove(context, handle)


def _remove(context: Context, handle: Handle) -> None:
    """Remove the job; what cannot be removed now is found when the group is resumed."""
    try:
        context.experiment.backend.remove(handle)
    except BackendError as error:
        context.reporter.note("not removed", job=handle.name, why=str(error))


def _fetch(context: Context, record: RunRecord, status: JobStatus) -> bool:
    """Fetch what the attempt left, unless that was done; False if its job is gone."""
    assert record.attempt
    folder, handle = collect.attempt_folder(record), record.attempt.handle
    if folder.is_dir():
        return True
    if status.phase == "gone" or not handle:
        files.remove(files.partial(folder))  # it will never be complete
        return False
    limit = context.experiment.submission_limit(record.competition)
    collect.fetch(context.experiment.backend, handle, record, limit, status.seconds)
    return True


def _judged(
    context: Context, record: RunRecord, status: JobStatus, seconds: float, cancelled: bool, fetched: bool
) -> tuple[RunRecord, End]:
    """The record with how the attempt ended."""
    logs, reported = collect.collected_logs(record), collect.read_exit(record) if fetched else collect.Exit()
    used, doubt = time_used(record, status, reported, seconds)
    found = availability(logs / GATEWAY_LOG.name, record.access, used) if fetched and record.access else None
    retries = context.experiment.plan.execution.retries
    end = judge_attempt(record, status, cancelled=cancelled, fetched=fetched, found=found, retries=retries)
    reason = "; ".join(filter(None, (end.reason, doubt)))
    record = record.with_attempt(
        ended=end.ended,
        reason=reason,
        outcome=read_outcome(logs, below=record.folder) if fetched else None,
        infra_failure=end.infra_failure,
        preempted=end.infra_failure and status.preempted,
        in_doubt=end.in_doubt,
        seconds=used,
        exit_code=exit_code(status, reported),
        availability=found,
    )
    return evolve(
        record,
        ended=end.ended,
        reason=reason,
        seconds=used,
        hardware=status.hardware or Hardware(),
        checks=collect.read_checks(record) if fetched else record.checks,
        sandbox=status.sandbox or record.sandbox,
    ), end


def _restore_names(context: Context, record: RunRecord) -> None:
    """Give submissions the competition's own names, which is all that grading knows. Repeatable.

    The file as the agent wrote it stays in the attempt's folder. Raises Missing if the names are lost.
    """
    if record.obfuscation != "full":
        return
    shown = context.experiment.inputs_of(record.competition).shown
    submissions = [*filter(None, (record.submission, *(path for _, path in snapshots(record))))]
    try:
        shown.restore(submissions, record.task)
    except MlecoreError as error:
        raise Missing(str(error)) from None


def _with_usage(context: Context, record: RunRecord) -> RunRecord:
    """What the logs of relay and gateway tell, and what the agent's own logs report of its usage."""
    record = evolve(record, relay_refused=relay_refusals(record.folder / RELAY_LOG))
    reported, access = _reported_usage(context, record), record.access
    calls = measure(record.folder / GATEWAY_LOG, access.budgets, access.spent) if access else None
    if calls is None:
        return evolve(record, usage=reported)
    words = difference(calls, reported.input_tokens, reported.output_tokens) if reported else ""
    if words:
        context.reporter.note("usage differs", record.name, why=words)
    return evolve(record, calls=calls, usage=calls.usage, reported_usage=reported, usage_difference=words)


def _reported_usage(context: Context, record: RunRecord) -> Usage | None:
    """As the agent's hook reports them; it reads hostile files, so a failure is only noted."""
    agent = context.experiment.agents.get(record.label)
    if agent is None or not agent.plugin.implements("usage"):
        return None
    try:
        usage: Usage | None = agent.plugin.call("usage", logs=record.folder / "logs")
    except Exception as error:
        context.reporter.note("usage unknown", record.name, why=str(error))
        return None
    return usage


# The judgement.


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
    return blame(end, found, record.limits.time, handed_in=handed_in, may_doubt=may_doubt)


def blame(end: End, found: Availability, time_limit: float, *, handed_in: bool, may_doubt: bool = True) -> End:
    """The end, if the endpoint is to blame for it: an infrastructure failure. ``may_doubt``: may a case of doubt be
    repeated?

    The gateway confirms each failure of the endpoint by a call of its own (mlecore_gateway/faults.py), so nothing that
    an agent sends makes one. Scores play no part: repeating bad results and keeping good ones would favor agents whose
    endpoint is bad. For the same reason a case of doubt is repeated only once.
    """
    if found.tried and not found.answered and not found.rejected:
        words = f"none of {counted(found.tried, 'model call')} was answered: {found.last_error}"
        return _because(
            end, words, infra_failure=True, in_doubt=end.in_doubt or not found.failed, unconfirmed=not found.failed
        )
    if found.failing_seconds > SHARE * time_limit:
        share = found.failing_seconds / time_limit
        lost = f"{show_duration(found.failing_seconds)}, {share:.0%} of the time limit"
        return _because(end, f"model calls failed for {lost}: {found.last_error}", infra_failure=True)
    if not found.failed_last:
        return end
    ended_badly = end.ended == "crashed" or (end.ended in ("finished", "timed_out") and not handed_in)
    doubted = may_doubt and ended_badly and found.failing_at_end >= LASTING
    words = f"its last model calls failed: {found.last_error}"
    return _because(end, words, infra_failure=doubted, in_doubt=end.in_doubt or doubted)


def _because(end: End, words: str, **changes: Any) -> End:
    return evolve(end, reason="; ".join(filter(None, (words, end.reason))), **changes)


def availability(log: Path, access: ModelAccess, used: float | None = None) -> Availability | None:
    """How a gateway's calls to its models fared, in an attempt of ``used`` seconds; None if there is no log."""
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
        failing_seconds=round(failing if used is None else min(failing, used), 3),
        failing_at_end=round(at_end if used is None else min(at_end, used), 3),
        failed_last=bool(fails_until),
        last_error=last_error,
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
    gone = status.phase == "gone" and not fetched
    if gone or status.infra_failure:
        why = f"the backend no longer has the job {record.attempt.job}" if gone else "the backend ended it"
        return End(ended="lost", reason=status.reason or why, infra_failure=True, in_doubt=status.in_doubt)
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
    longest = _between(record) if status.seconds is None else status.seconds
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
    if (least is None or inside >= (1 - _CLOCKS_DRIFT) * least - _CLOCKS_DIFFER) and (
        most is None or inside <= (1 + _CLOCKS_DRIFT) * most + _CLOCKS_DIFFER
    ):
        return inside, ""
    return best, f"its sandbox reported {inside:g} s, and {best:g} s were counted outside"


def exit_code(status: JobStatus, reported: collect.Exit) -> int | None:
    """The agent's exit code, from the backend; where init had to substitute another, from init's report."""
    code = status.exit_code
    if code is None or (code in SUBSTITUTES and reported.exit_code == code):
        return code
    return SUBSTITUTES.get(code, code)
