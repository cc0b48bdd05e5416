"""Watching a controller: nothing, or plain lines in a log; cli/_live.py is for terminals."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mlecore.errors import DataError
from mlecore.model.record import RunRecord
from mlecore.runs.refused import refusal_words
from mlecore.util.printable import printable
from mlecore.util.regular import open_regular
from mlecore.util.units import counted, show_duration

if TYPE_CHECKING:
    from mlecore.controller.reporting import ActiveRun
    from mlecore.model.report import Report

_COUNTED = ("graded", "failed", "cancelled")


class Silent:
    """Shows nothing; for programs that read the records afterwards."""

    def changed(self, record: RunRecord, report: Report | None) -> None:
        return

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None:
        return

    def say(self, text: str) -> None:
        return


class Lines:
    """A line for each run that ends, and now and then one with the status."""

    def __init__(self, total: int, out: TextIO | None = None, every: float = 60.0) -> None:
        self.total = total
        self.out = out or sys.stderr
        self.every = every
        self._next = time.monotonic() + every

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def changed(self, record: RunRecord, report: Report | None) -> None:
        if line := describe(record, report):
            self.say(line)

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self.every
            self.say(standing(active, counts, waiting, self.total))

    def say(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {printable(text, lines=True)}", file=self.out, flush=True)


def standing(active: Iterable[ActiveRun], counts: Counter[str], waiting: int, total: int) -> str:
    """The status of a group, in one line."""
    parts = [f"{counts[state]} {state}" for state in _COUNTED if counts[state]]
    phases: dict[str, list[ActiveRun]] = defaultdict(list)
    for run in active:
        phases[run.phase].append(run)
    parts += [f"{len(runs)} {phase}{_why(runs)}" for phase, runs in sorted(phases.items())]
    if waiting:
        parts.append(f"{waiting} planned")
    return f"{counted(total, 'run')}: {', '.join(parts) or 'none begun'}"


def _why(runs: Iterable[ActiveRun]) -> str:
    """Why most of these do not go on, of those where that is known."""
    waiting = (run.trouble or (run.record.reason if run.phase == "waiting" else "") for run in runs)
    reasons = Counter(reason.splitlines()[0] for reason in waiting if reason)
    return f" ({reasons.most_common(1)[0][0]})" if reasons else ""


def describe(record: RunRecord, report: Report | None) -> str:
    """How a run ended, in one line; empty if it has not."""
    if record.state == "graded" and report is not None:
        used = f" in {show_duration(record.seconds)}" if record.seconds is not None else ""
        how = "" if record.ended == "finished" else f" ({record.ended}: {record.reason})"
        more = filter(None, (refusal_words(record.relay_refused), _said(record, report)))
        return "; ".join([f"{record.name}: {graded_words(report)}{used}{how}", *more])
    if record.state in ("cancelled", "failed"):
        return ": ".join(dict.fromkeys((record.name, record.state, record.reason or record.state)))
    return ""


def _said(record: RunRecord, report: Report) -> str:
    """How the agent says it ended; of one that says nothing and did badly, the last line that it printed."""
    if record.outcome is not None:
        return "" if record.outcome.kind == "submitted" else f"as reported by the agent, {record.outcome}"
    tells = report.status == "none" or record.ended == "crashed" or _is_sample(report)
    said = last_words(record.folder) if tells else ""
    return f"it last said: {said}" if said else ""


def last_words(folder: Path) -> str:
    """The last line that a run's agent printed, safe to print; empty if there is none."""
    try:
        path = folder / "logs" / "output.log"
        with os.fdopen(open_regular(path, below=folder.parent), "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
            return last_line(log.read())
    except (OSError, DataError):
        return ""


def last_line(output: bytes) -> str:
    """The last line of an output that says anything, safe to print; empty if there is none."""
    lines = ["".join(filter(str.isprintable, line)).strip() for line in output.decode(errors="replace").split("\n")]
    return next((line[:200] for line in reversed(lines) if line), "")


def _is_sample(report: Report) -> bool:
    """Does it score like the sample submission? Agents that run out of time often hand that in."""
    return report.score is not None and report.score == report.sample_score


def graded_words(report: Report) -> str:
    """A report's result in a few words."""
    if report.status == "none":
        return "no submission" if report.reason == "there is no submission" else f"no submission ({report.reason})"
    if report.status == "invalid":
        return f"invalid submission: {report.reason.splitlines()[0] if report.reason else ''}"
    score = report.score_text if report.score is None else f"{report.score:g}"
    if report.medal:
        return f"score {score}, {report.medal} medal"
    if report.reference_words:
        return f"score {score}, {report.reference_words}"
    if _is_sample(report):
        return f"score {score}, the same as the sample submission"
    if report.beats_sample is not None:
        return f"score {score}, {'beats' if report.beats_sample else 'does not beat'} the sample submission"
    return f"score {score}"
