"""What lists show of a run, read quickly from its record, its grade and its findings."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen
from mle_ext_report.position import position

from mlecore.errors import DataError
from mlecore.model.findings import OUTCOMES, DetectorOutcome
from mlecore.model.record import RunRecord, moment
from mlecore.model.report import Report, read_report
from mlecore.runs.findings import read_findings
from mlecore.runs.folders import FINDINGS, RECORD
from mlecore.runs.store import recover_record

GRADE = "grade.json"
Stamp = tuple[tuple[int, int, int] | None, ...]
"""(inode, size, time of change) of each file that a row is read from; None: it does not exist."""


@frozen(kw_only=True)
class Row:
    """One run in a list."""

    record: RunRecord
    report: Report | None = None
    worst: DetectorOutcome | None = None  # of its findings; None: no detector has judged it
    remark: str = ""  # its record was damaged, and the one before it is shown

    @property
    def result(self) -> str:
        """A medal, or how far it came without one; else its state."""
        report = self.report
        if self.record.state != "graded":
            return self.record.state
        if report is None or report.status != "graded":
            return f"{report.status if report else 'ungraded'} submission".replace("none", "no")
        if report.reference_words:
            return report.reference_words
        if report.gold_threshold is None and report.beats_sample:
            return "beats the sample"
        return report.medal or ("above the median" if report.above_median else "valid")

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
        return self.record.usage.cost_usd if self.record.usage else None

    @property
    def tokens(self) -> int | None:
        usage = self.record.usage
        if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
            return None
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)

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
    record, remark = recover_record(folder)
    report = _read_report(folder) if record.state in ("graded", "collected") else None
    worst: DetectorOutcome | None = None
    if (folder / FINDINGS).is_dir():
        found, damaged = read_findings(record)
        outcomes = {each.outcome for each in found.values()} | ({"failed"} if damaged else set())
        worst = next((outcome for outcome in OUTCOMES if outcome in outcomes), None)
    return Row(record=record, report=report, worst=worst, remark=remark)


def _read_report(folder: Path) -> Report | None:
    try:
        return read_report(folder / GRADE, below=folder.parent)
    except (DataError, OSError):
        return None
