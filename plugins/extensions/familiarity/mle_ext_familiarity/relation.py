"""Does a model score better where it is familiar with the text? Spearman's rank correlation and a permutation test."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from attrs import frozen

from mle_ext_familiarity.measure import Familiarity

_FEWEST = 4  # competitions; with fewer, no permutation is rare
_RESAMPLES = 9999


@frozen(kw_only=True)
class Relation:
    """Between two columns, over the competitions that have both."""

    between: tuple[str, str]
    competitions: int
    rho: float | None  # Spearman's; None: fewer than four competitions, or a column of equal values
    p: float | None  # two-sided

    def __str__(self) -> str:
        words = f"{self.between[0]} and {self.between[1]}"
        if self.rho is None:
            return f"{words}: no relation can be computed from {self.competitions} competitions"
        return f"{words}: Spearman {self.rho:.3f}, p = {self.p:.4f}, {self.competitions} competitions"


def positions(groups: Sequence[str], runs: Path) -> dict[str, float]:
    """Competition -> mean position of the groups' runs, where the human leaderboard gives one. Raises UsageError."""
    from mlecore.reports.sources import read_sources
    from mlecore.reports.summary import summarise

    found: dict[str, list[float]] = defaultdict(list)
    for setup in summarise(read_sources(list(groups), [], runs)).setups:
        for line in setup.runs:
            if line.position is not None:
                found[line.competition].append(line.position)
    return {id: fmean(values) for id, values in found.items()}


def relate(found: Sequence[Familiarity]) -> list[Relation]:
    """Of the text's probability, and of its difference from the control, with the position."""
    scored = [(each, each.position) for each in found if each.position is not None]
    y = [position for _, position in scored]
    columns = {"text": [each.text for each, _ in scored], "difference": [each.difference for each, _ in scored]}
    return [_relation((name, "position"), x, y) for name, x in columns.items()]


def _relation(between: tuple[str, str], x: Sequence[float], y: Sequence[float]) -> Relation:
    import numpy as np
    from scipy.stats import permutation_test, rankdata

    if len(x) < _FEWEST or len(set(x)) == 1 or len(set(y)) == 1:
        return Relation(between=between, competitions=len(x), rho=None, p=None)
    ranks = rankdata(y)
    tested = permutation_test(
        (rankdata(x),),
        lambda shuffled: np.corrcoef(shuffled, ranks)[0, 1],
        permutation_type="pairings",
        vectorized=False,
        n_resamples=math.inf if len(x) <= 7 else _RESAMPLES,
        rng=np.random.default_rng(0),
    )
    return Relation(between=between, competitions=len(x), rho=float(tested.statistic), p=float(tested.pvalue))
