"""Where a score lies between the sample submission (0) and gold (1)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from mle_ext_report.graded import Graded
from mlecore.model.report import Report


def position(report: Report | None) -> float | None:
    """The share of the way from the sample's score to gold's that a run has come, cut off at 0 and 1.

    0 for an invalid or missing submission; None if there is no axis: no thresholds, or the sample's score is unknown
    or no worse than gold.
    """
    if report is None or report.gold_threshold is None or report.sample_score is None:
        return None
    if not report.valid_submission:
        return 0.0
    return on_axis(report, report.score if report.exact is None else report.exact)


def positions(runs: Sequence[Graded]) -> list[float | None]:
    """The position of each run; a missing one is at 0, unless other runs show that the competition has no axis."""
    found = [position(item.report) if item.counts else None for item in runs]
    without = {item.run.competition for item, place in zip(runs, found, strict=True) if item.report and place is None}
    return [
        0.0 if not item.counts and item.ranked and item.run.competition not in without else place
        for item, place in zip(runs, found, strict=True)
    ]


def mean_positions(runs: Mapping[str, Sequence[Graded]]) -> dict[str, float]:
    """Competition -> mean position of its runs; those without an axis are left out."""
    found = {
        competition: [place for place in positions(items) if place is not None] for competition, items in runs.items()
    }
    return {competition: statistics.fmean(places) for competition, places in found.items() if places}


def on_axis(report: Report, score: float | None) -> float | None:
    """A snapshot's score on the axis of its run's competition."""
    sample, gold = report.sample_score, report.gold_threshold
    if score is None or sample is None or gold is None:
        return None
    length = sample - gold if report.is_lower_better else gold - sample
    if length <= 0 or math.isnan(score):
        return None if length <= 0 else 0.0
    way = sample - score if report.is_lower_better else score - sample
    return min(1.0, max(0.0, way / length))
