"""Where a run stands among the teams of the human leaderboard, and where the sample submission and thresholds do."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

from mlecore.model.report import Report

MARKS = ("sample", "median", "bronze", "silver", "gold")


def percentile(report: Report | None) -> float | None:
    """The share of teams that are not better, in percent: 0 for an invalid or missing submission, and for NaN.

    None without a leaderboard at hand, also for invalid submissions that an older version of mlecore graded.
    """
    if report is None or (report.percentile is None and report.threshold_percentiles is None):
        return None
    return _possible(report.percentile or 0.0)


def marks_of(report: Report) -> dict[str, float]:
    """Mark -> its percentile; empty without a leaderboard at hand."""
    sample = {} if report.sample_percentile is None else {"sample": report.sample_percentile}
    known = {**sample, **(report.threshold_percentiles or {})}
    return {name: _possible(known[name]) for name in MARKS if name in known}


def mean_marks(marks: Mapping[str, Mapping[str, float]], competitions: Iterable[str]) -> dict[str, float]:
    """Mark -> its mean percentile over ``competitions``; one that is not known for each of them is left out.

    ``marks``: of each competition, as ``marks_of`` gives them.
    """
    found = [marks.get(competition, {}) for competition in competitions]
    known = [name for name in MARKS if found and all(name in each for each in found)]
    return {name: statistics.fmean(each[name] for each in found) for name in known}


def mark_words(marks: Mapping[str, float]) -> str:
    """Such as "the sample submission is at 12.3, the median human at 50.0, a gold medal at 98.7"."""
    names = ("the sample submission", "the median human", "a bronze medal", "a silver medal", "a gold medal")
    said = [f"{words} at {marks[name]:.1f}" for name, words in zip(MARKS, names, strict=True) if name in marks]
    return ", ".join(said).replace(" at ", " is at ", 1)


def _possible(percentile: float) -> float:
    """A file may say anything."""
    return min(100.0, max(0.0, percentile))
