"""What lists show of a run, read quickly from its record, its grade and its findings."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen, resolve_types

from mlecore.agents import Usage
from mlecore.errors import DataError
from mlecore.grading.report import Report
from mlecore.regular import read_regular
from mlecore.reports.position import position
from mlecore.runs.digests import is_own
from mlecore.runs.findings import OUTCOMES, DetectorOutcome, read_findings
from mlecore.runs.folders import FINDINGS, RECORD
from mlecore.runs.record import FORMAT, RunRecord, RunSummary, moment
from mlecore.runs.store import recover_record
from mlecore.schema import LIMIT

if TYPE_CHECKING:
    from msgspec.json import Decoder

GRADE = "grade.json"
Stamp = tuple[tuple[int, int, int] | None, ...]
"""(inode, size, time of change) of each file that a row is read from; None: it does not exist."""


@frozen(kw_only=True)
class _Summary(RunSummary):
    """A summary, and what its run cost."""

    model: str | None = None
    usage: Usage | None = None


@frozen(kw_only=True)
class Row:
    """One run in a list."""

    record: RunSummary
    model: str | None = None
    usage: Usage | None = None
    report: Report | None = None
    worst: DetectorOutcome | None = None  # of its findings; None: no detector has judged it
    remark: str = ""  # its record was damaged, and the one before it is shown

    @property
    def medal(self) -> str | None:
        return self.report.medal if self.report else None

    @property
    def result(self) -> str:
        """A medal, or how far it came without one: above, beats sample, valid, invalid, none; else its state."""
        report = self.report
        if report is None or self.record.state != "graded":
            return self.record.state
        if report.status != "graded":
            return report.status
        if report.gold_threshold is None and report.beats_sample:
            return "beats sample"
        return report.medal or ("above" if report.above_median else "valid")

    @property
    def score(self) -> float | None:
        return self.report.exact if self.report else None

    @property
    def position(self) -> float | None:
        return position(self.report)

    @property
    def flagged(self) -> bool:
        return self.record.altered or self.worst in ("violation", "suspicious")

    @property
    def cost(self) -> float | None:
        return self.usage.cost_usd if self.usage else None

    @property
    def tokens(self) -> int | None:
        if self.usage is None or (self.usage.input_tokens is None and self.usage.output_tokens is None):
            return None
        return (self.usage.input_tokens or 0) + (self.usage.output_tokens or 0)

    @property
    def ended_at(self) -> float | None:
        """Seconds since 1970."""
        at = moment(self.record.attempt.ended_at) if self.record.attempt else None
        return at.timestamp() if at else None


def stamp(folder: str) -> Stamp:
    """Another one as soon as the run's row may be: a grade is written before the record that tells of it."""
    return file_stamp(f"{folder}/{RECORD}"), file_stamp(f"{folder}/{FINDINGS}")


def file_stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_row(folder: Path) -> Row:
    """The row of a run's folder. Raises RecordError and OSError if no record of it can be read."""
    record, remark = _read_record(folder)
    report = _read_report(folder) if record.state in ("graded", "collected") else None
    worst: DetectorOutcome | None = None
    if (folder / FINDINGS).is_dir():
        found, damaged = read_findings(record)
        outcomes = {each.outcome for each in found.values()} | ({"failed"} if damaged else set())
        worst = next((outcome for outcome in OUTCOMES if outcome in outcomes), None)
    return Row(
        record=record,
        model=record.model,
        usage=record.usage,
        report=report,
        worst=worst,
        remark=remark,
    )


def _read_record(folder: Path) -> tuple[_Summary | RunRecord, str]:
    """As ``store.read_summary``, with the cost; the previous record where this one is damaged."""
    from msgspec import MsgspecError

    try:
        content = read_regular(folder / RECORD, LIMIT, below=folder.parent)
        summary = _summaries().decode(content)
    except (DataError, MsgspecError, OSError, RecursionError, UnicodeDecodeError):
        return recover_record(folder)
    if summary.format != FORMAT or not summary.digests or not is_own(content, summary.digests.record):
        return recover_record(folder)
    object.__setattr__(summary, "folder", folder)  # it is new; evolve would take longer than the rest
    return summary, ""


def _read_report(folder: Path) -> Report | None:
    from msgspec import MsgspecError

    try:
        return _reports().decode(read_regular(folder / GRADE, LIMIT, below=folder.parent))
    except (DataError, MsgspecError, OSError, RecursionError, UnicodeDecodeError):
        return None


@cache
def _summaries() -> Decoder[_Summary]:
    from msgspec.json import Decoder

    return Decoder(resolve_types(_Summary))


@cache
def _reports() -> Decoder[Report]:
    from msgspec.json import Decoder

    return Decoder(resolve_types(Report))
