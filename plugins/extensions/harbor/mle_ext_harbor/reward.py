"""The numbers to train on and to plot, from the report of a graded submission. Copied into the verifier's image."""

from __future__ import annotations

import math
from typing import Literal, get_args

from attrs import evolve
from mle_ext_report.position import position

from mlecore.data.prepared import Prepared
from mlecore.errors import MlecoreError
from mlecore.model.competition import Competition
from mlecore.model.report import Report

RewardKind = Literal["medal", "position", "percentile"]
KINDS: tuple[RewardKind, ...] = get_args(RewardKind)


def reward(report: Report, kind: RewardKind, best: float | None = None) -> float:
    """Between 0 and 1; a better score never has a smaller one. An invalid or missing submission has 0.

    ``medal``: 1 for a medal, else 0; on data without medals, 1 for a better score than the sample submission's.
    ``position``: the share of the way from the sample submission's score to gold's. On data without medals, the way
    leads to the reference gold, else to ``best``, see ``best_score``. Where no way is known, as ``medal``.
    ``percentile``: the share of the human leaderboard's teams that are not better; without it, as ``position``.
    """
    if not report.valid_submission or report.exact is None or math.isnan(report.exact):
        return 0.0
    if kind == "percentile" and report.percentile is not None:
        return report.percentile / 100
    place = None if kind == "medal" else _place(report, best)
    if place is not None:
        return place
    return float(report.any_medal if report.gold_threshold is not None else bool(report.beats_sample))


def _place(report: Report, best: float | None) -> float | None:
    """On the way to the first end that is better than the sample submission.

    The sample's score is undefined where it is a correlation, as all its predictions are equal: then the way begins
    at 0, which is what predictions that say nothing would earn.
    """
    start = report.sample_score
    if start is None and report.beats_sample is None and not report.is_lower_better:
        start = 0.0
    reference = report.reference.gold if report.reference else None
    for end in (report.gold_threshold, reference, best):
        if end is not None:
            found = position(evolve(report, sample_score=start, gold_threshold=end))
            if found is not None:
                return found
    return None


def metrics(report: Report) -> dict[str, float]:
    """The numbers beside the reward; without those that are unknown, or not finite, which Harbor does not take."""
    ranked = report.gold_threshold is not None
    values = {
        "valid": float(report.valid_submission),
        "score": report.exact,
        "beats_sample": float(bool(report.beats_sample)),
        "medal": float(report.any_medal) if ranked else None,
        "above_median": float(report.above_median) if ranked else None,
        "position": position(report),
        "percentile": report.percentile,
    }
    return {name: value for name, value in values.items() if value is not None and math.isfinite(value)}


def best_score(competition: Competition, data: Prepared) -> float | None:
    """The score of a perfect submission, the same for each run on ``data``; None if it is not finite, or unknown."""
    try:
        found = competition.grade(competition.perfect(data.private), data.private, data.public)
    except MlecoreError:
        return None
    return found if math.isfinite(found) else None
