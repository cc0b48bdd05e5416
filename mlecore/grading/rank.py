"""The rank of a score on the human leaderboard, where the scores of all teams are known."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from mlecore.errors import PluginError


@frozen(kw_only=True)
class Rank:
    """Where a score would have stood. Medals do not depend on it."""

    rank: int  # 1 + the number of teams that are strictly better
    teams: int
    percentile: float  # share of the teams that are not better, in percent: 100 is as good as the best
    best_human: float  # the best team's score


def rank_of(score: float, scores: Sequence[float], lower_is_better: bool) -> Rank | None:
    """The rank of ``score`` among ``scores``; None for NaN, and where there are no teams."""
    if math.isnan(score) or not scores:
        return None
    better = sum(other < score if lower_is_better else other > score for other in scores)
    best = min(scores) if lower_is_better else max(scores)
    return Rank(rank=better + 1, teams=len(scores), percentile=100 * (1 - better / len(scores)), best_human=best)


def read_leaderboard(path: Path) -> list[float]:
    """The column ``score`` (any capitals) of a leaderboard; teams without a score are left out. Raises PluginError."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        column = next((name for name in rows.fieldnames or () if name.lower() == "score"), None)
        if column is None:
            raise PluginError(f"{path} has no column 'score'")
        try:
            scores = [float(row[column]) for row in rows if (row[column] or "").strip()]
        except ValueError as error:
            raise PluginError(f"{path}, line {rows.line_num}: {error}") from None
    return [score for score in scores if not math.isnan(score)]
