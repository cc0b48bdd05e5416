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
from mlecore.model.data_kind import no_medals
from mlecore.model.record import RunRecord
from mlecore.runs.refused import refusal_words
from mlecore.util.printable import printable
from mlecore.util.regular import open_regular
from mlecore.util.units import counted, show_duration, show_number

if TYPE_CHECKING:
    from mlecore.controller.reporting import ActiveRun
    from mlecore.model.report import Report


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
    parts = [f"{counts[state]} {state}" for state in ("graded", "failed", "cancelled") if counts[state]]
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
    return report.exact is not None and report.exact == report.sample_score


def graded_words(report: Report, whole: bool = False) -> str:
    """A report's result in a few words; the ``whole`` one with every digit, and what the score compares with."""
    if report.status != "graded":
        words = "invalid submission" if report.status == "invalid" else "no submission"
        why = "" if report.reason == "there is no submission" else report.reason
        return f"{words}: {why if whole else why.partition(chr(10))[0]}" if why else words
    words = f"score {report.score_text if whole or report.score is None else f'{report.score:g}'}"
    words += f" ({'lower' if report.is_lower_better else 'higher'} is better)" if whole else ""
    places = ("gold", "silver", "bronze", "median")
    if report.gold_threshold is not None and (whole or report.medal):
        words += f", {report.medal or 'no'} medal"
        scores = ", ".join(f"{place} {show_number(getattr(report, f'{place}_threshold'))}" for place in places)
        near = "; compare with medals of v1 with care" if report.comparability == "near" else ""
        return f"{words}, {'' if report.above_median else 'not '}above the median ({scores}){near}" if whole else words
    sample = f" ({show_number(report.sample_score)})" if whole and report.sample_score is not None else ""
    if _is_sample(report):
        words += f", the same as the sample submission{sample}"
    elif report.beats_sample is not None and (whole or report.reference is None):
        words += f", {'beats' if report.beats_sample else 'does not beat'} the sample submission{sample}"
    if report.reference_words and (known := report.reference):
        scores = ", ".join(f"{place} {show_number(getattr(known, place))}" for place in places)
        words += f", {report.reference_words}"
        words += f" ({scores}: scores of {', '.join(known.agents)}, not of humans)" if whole else ""
    return f"{words}; no medals: {no_medals(report.data_kind, report.comparability)}" if whole else words
