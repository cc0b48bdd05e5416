"""A score's place on the whole human leaderboard, where that is at hand; medals do not hang on it."""

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
    percentile: float  # share of the teams that are not better, in percent: 100 is as good as the best


def standing(scores: Sequence[float], score: float, lower_is_better: bool) -> Standing | None:
    """The place of ``score`` among ``scores``; None for NaN, and where there are no teams."""
    if math.isnan(score) or not scores:
        return None
    better = sum(other < score if lower_is_better else other > score for other in scores)
    return Standing(rank=better + 1, teams=len(scores), percentile=100 * (1 - better / len(scores)))


def leaderboard_beside(private: Path, facts_folder: Path) -> Path | None:
    """The scores that came with the download, beside the prepared folder, else those that the competition brings."""
    places = (private.parent.parent / "leaderboard.csv", facts_folder / "leaderboard.csv")
    return next((path for path in places if path.is_file()), None)
