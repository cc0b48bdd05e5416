"""A run's place on the whole human leaderboard, where that was fetched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class Standing:
    """Where a score would have stood."""

    rank: int  # 1 + the number of teams that are strictly better
    teams: int
    percentile: float  # share of the teams that are not better, in percent: 100 beats or equals everybody


def standing(scores: Sequence[float], score: float, lower_is_better: bool) -> Standing | None:
    """The place of ``score`` among ``scores``; None for NaN and where there are no teams."""
    if math.isnan(score) or not scores:
        return None
    better = sum(other < score if lower_is_better else other > score for other in scores)
    return Standing(rank=better + 1, teams=len(scores), percentile=100 * (1 - better / len(scores)))


def read_scores(path: Path) -> list[float]:
    """The scores of a ``leaderboard.csv`` that was fetched."""
    return [float(line) for line in path.read_text().split()[1:]]
