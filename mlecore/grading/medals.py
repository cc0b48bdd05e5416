"""Kaggle's medal rules, for third-party competitions with a leaderboard instead of thresholds.

Source: https://www.kaggle.com/progression (competition medals). Shares are rounded down, but to 1 at least.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from mlecore.grading.rank import read_leaderboard
from mlecore.model.facts import Facts, Thresholds


def medal_places(teams: int) -> tuple[int, int, int]:
    """The last places, counted from 1, that earn gold, silver and bronze among so many teams."""

    def share(fraction: float) -> int:
        return max(1, math.floor(teams * fraction + 1e-9))  # 0.29 * 100 is 28.999... in binary

    if teams < 100:
        return share(0.1), share(0.2), share(0.4)
    if teams < 250:
        return 10, share(0.2), share(0.4)
    gold = 10 + math.floor(teams * 0.002 + 1e-9)
    if teams < 1000:
        return gold, 50, 100
    return gold, share(0.05), share(0.1)


def thresholds_of(scores: Sequence[float], lower_is_better: bool) -> Thresholds:
    """Scores at the last medal places and the median of a leaderboard. Raises ValueError for an empty one."""
    if not scores:
        raise ValueError("the leaderboard is empty")
    ranked = sorted(scores, reverse=not lower_is_better)
    gold, silver, bronze = (ranked[min(place, len(ranked)) - 1] for place in medal_places(len(ranked)))
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=statistics.median(ranked))


def thresholds_for(facts: Facts) -> Thresholds | None:
    """A competition's thresholds: as its facts give them, else from its leaderboard.csv, else none (and no medals)."""
    leaderboard = facts.folder / "leaderboard.csv"
    if facts.thresholds is None and leaderboard.is_file():
        return thresholds_of(read_leaderboard(leaderboard), facts.lower_is_better)
    return facts.thresholds
