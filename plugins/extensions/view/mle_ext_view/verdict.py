"""What a run came to, in a line; and of one that failed, why, and what to do first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from attrs import frozen

from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.runs.refused import refusal_words
from mlecore.util.printable import printable
from mlecore.util.units import show_duration, show_size, write_duration


@frozen(kw_only=True)
class Step:
    """Something to do, and the command for it, if there is one."""

    what: str
    command: str = ""


@frozen(kw_only=True)
class Verdict:
    """Why a run has no valid submission."""

    title: str
    why: str  # a sentence
    steps: tuple[Step, ...]


_NEW_GROUP = "A group's limits never change: start a new one"
_TITLES = {
    "timed_out": "Out of time, without a submission",
    "oom": "Out of memory, without a submission",
    "crashed": "Crashed, without a submission",
    "stopped": "Stopped, without a submission",
    "lost": "Lost by the backend",
}


def verdict(record: RunRecord, report: Report | None, where: str = "") -> Verdict | None:
    """None for a run with a valid submission, and for one that has not ended. ``where``: what its commands
    need to find its folder."""
    if report is not None and report.valid_submission:
        return None
    name = shlex.quote(printable(f"{record.folder.parent.name}/{record.folder.name}")) + where
    group = shlex.quote(printable(record.folder.parent.name)) + where
    if record.state in ("failed", "cancelled"):
        command = f"mlecore runs retry {name} && mlecore runs resume {group}"
        again = Step(what="Run it again, and continue its group", command=command)
        if record.state == "cancelled":
            return Verdict(title="Cancelled", why=_sentence(record.reason or "it was cancelled"), steps=(again,))
        title = _TITLES.get(record.ended or "", "Failed")
        machine = Step(what="See whether this machine can run agents", command="mlecore doctor")
        return Verdict(title=title, why=_sentence(record.reason or "it failed"), steps=(machine, again))
    if record.state not in ("graded", "collected"):
        return None
    if report is None:
        why = "it has no grade that can be read" if record.state == "graded" else "grading it failed, or has not begun"
        grade = Step(what="Grade it, which also says what is wrong", command=f"mlecore runs grade {group}")
        return Verdict(title="Not graded", why=_sentence(why), steps=(grade,))
    if report.status == "invalid":
        return Verdict(title="Invalid submission", why=_sentence(report.reason), steps=_check(record, where))
    why = _why_none(record, report)
    return Verdict(
        title=_TITLES.get(record.ended or "", "Ended without a submission"),
        why=_sentence(why),
        steps=(*_by_end(record), *_by_conditions(record), *_again(name, group)),
    )


def _why_none(record: RunRecord, report: Report) -> str:
    """Such as "it used up its time limit of 3m and left no submission/submission.csv"."""
    limits = record.limits
    how = {
        "timed_out": f"it used up its time limit of {show_duration(limits.time)}",
        "oom": "it needed more memory than " + (show_size(limits.memory) if limits.memory else "there was"),
        "finished": "it ended by itself",
    }.get(record.ended or "", f"it {record.reason}" if "kill" in record.reason else record.reason or "it ended")
    if record.ended == "crashed" and record.reason.startswith("exit code"):
        how = f"it ended with {record.reason}"
    wanted = record.candidates[0] if record.candidates else "submission/submission.csv"
    usual = report.reason in ("", "there is no submission")
    return f"{how} and left no {wanted}" if usual else f"{how}: {report.reason}"


def _by_end(record: RunRecord) -> Iterator[Step]:
    """The setting that was exceeded."""
    limits = record.limits
    if record.ended == "timed_out":
        more = write_duration(2 * limits.time)
        yield Step(what=f"{_NEW_GROUP} with more time", command=f"mlecore run --time-limit {more} ...")
        yield Step(what="or have the agent write a first submission early, and improve it")
    elif record.ended == "oom" or record.reason.endswith("signal 9"):
        more = f"{max(1, -(-2 * (limits.memory or 2**30) // 10**9))}GB"
        often = "" if record.ended == "oom" else "Signal 9 often means that memory ran out. "
        yield Step(what=f"{often}{_NEW_GROUP} with more memory", command=f"mlecore run --memory {more} ...")
    elif record.ended == "finished":
        yield Step(what="See what it left under other names: Files, above")


def _by_conditions(record: RunRecord) -> Iterator[Step]:
    """What the gateway or the relay kept from the agent, which may be the cause."""
    if record.calls and record.calls.exhausted:
        yield Step(
            what=f"Its budget for the model was used up ({printable(record.calls.exhausted)}): {_NEW_GROUP} with more",
            command="mlecore run -G budgets=... ...",
        )
    if words := refusal_words(record.relay_refused):
        host = next(iter(record.relay_refused)).rpartition(":")[0]
        yield Step(
            what=f"Note that {printable(words)}: {_NEW_GROUP} that allows it",
            command=f"mlecore run --allow {shlex.quote(printable(host))} ...",
        )
    if record.calls and record.calls.failed and record.calls.failed >= record.calls.calls:
        yield Step(what="Every call of its model failed: see Model calls")


def _again(name: str, group: str) -> Iterator[Step]:
    yield Step(what="Read the whole output", command=f"mlecore runs logs {name}")
    command = f"mlecore runs retry --force {name} && mlecore runs resume {group}"
    yield Step(what="Run it again as it was; the old result is kept", command=command)


def _check(record: RunRecord, where: str) -> tuple[Step, ...]:
    folder = record.folder if where else f"runs/{record.folder.parent.name}/{record.folder.name}"
    path = shlex.quote(printable(f"{folder}/submission/submission.csv"))
    edition = "" if record.edition == "v1" else f" --edition {shlex.quote(printable(record.edition))}"
    kind = " --synthetic" if record.synthetic else ""
    competition = shlex.quote(printable(record.competition))
    return (
        Step(what="Compare its first rows with the sample's, below"),
        Step(
            what="Repeat the check, such as after a change to the file",
            command=f"mlecore check {path} {competition}{edition}{kind}",
        ),
        Step(what="An agent can check its own with validate_submission.sh, at any time"),
    )


def _sentence(words: str) -> str:
    """Starts with a capital and ends with a full stop."""
    text = printable(" ".join(words.split()))[:600]
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
