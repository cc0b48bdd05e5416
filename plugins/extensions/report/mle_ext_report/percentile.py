"""Where a run stands among the teams of the human leaderboard, and where the sample submission and thresholds do."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from mlecore.model.report import Report

MARKS = ("sample", "median", "bronze", "silver", "gold")


def percentile(report: Report | None) -> float | None:
    """The share of teams that are not better, in percent: 0 for an invalid or missing submission, and for NaN.

    None without a leaderboard at hand, also for invalid submissions that an older version of mlecore graded.
    """
    if report is None or (report.percentile is None and report.threshold_percentiles is None):
        return None
    return _possible(report.percentile or 0.0)


def mean_marks(reports: Iterable[tuple[str, Report | None]], competitions: Iterable[str]) -> dict[str, float]:
    """Mark -> its mean percentile over ``competitions``; one that is not known for each of them is left out.

    ``reports``: of runs, with their competitions.
    """
    by_id = {competition: marks for competition, report in reports if report and (marks := _marks(report))}
    found = [by_id.get(competition, {}) for competition in competitions]
    known = [name for name in MARKS if found and all(name in marks for marks in found)]
    return {name: statistics.fmean(marks[name] for marks in found) for name in known}


def _marks(report: Report) -> dict[str, float]:
    sample = {} if report.sample_percentile is None else {"sample": report.sample_percentile}
    return {name: _possible(value) for name, value in {**(report.threshold_percentiles or {}), **sample}.items()}


def _possible(percentile: float) -> float:
    """A file may say anything."""
    return min(100.0, max(0.0, percentile))
