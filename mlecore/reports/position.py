"""Where a score lies between the sample submission (0) and gold (1)."""

from __future__ import annotations

import math

from mlecore.grading.report import Report


def position(report: Report | None) -> float | None:
    """The share of the way from the sample's score to gold's that a run has come, cut off at 0 and 1.

    0 for an invalid or missing submission; None if there is no axis: no thresholds, or the sample's score is unknown
    or no worse than gold.
    """
    if report is None or report.gold_threshold is None or report.sample_score is None:
        return None
    if not report.valid_submission:
        return 0.0
    return on_axis(report, report.exact if report.score is None else report.score)


def on_axis(report: Report, score: float | None) -> float | None:
    """Any score (a threshold, a snapshot's) on the axis of a run's competition."""
    sample, gold = report.sample_score, report.gold_threshold
    if score is None or sample is None or gold is None:
        return None
    length = sample - gold if report.is_lower_better else gold - sample
    if length <= 0 or math.isnan(score):
        return None if length <= 0 else 0.0
    way = sample - score if report.is_lower_better else score - sample
    return min(1.0, max(0.0, way / length))
