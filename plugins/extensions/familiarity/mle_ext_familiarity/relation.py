"""Does a model score better where it knows the competition? Spearman's rank correlation and permutation tests."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean

from attrs import frozen

from mle_ext_familiarity.measured import Measured

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


@frozen(kw_only=True)
class Ages:
    """Means of a column over the competitions that ended before the model's cut-off, and over those after it."""

    column: str
    cutoff: date
    before: float | None
    after: float | None
    counts: tuple[int, int]
    p: float | None  # two-sided, of the difference of the means by permutation; None: a part is empty

    def __str__(self) -> str:
        parts = [
            f"{'-' if mean is None else f'{mean:.3f}'} {word} ({count})"
            for mean, word, count in zip((self.before, self.after), ("before", "after"), self.counts, strict=True)
        ]
        words = f"mean {self.column} by the cut-off {self.cutoff}: {', '.join(parts)}"
        return words if self.p is None else f"{words}, p = {self.p:.4f}"


def positions(groups: Sequence[str], runs: Path) -> dict[str, float]:
    """Competition -> mean position of the groups' runs, where the human leaderboard gives one. Raises UsageError."""
    from mle_ext_report.sources import read_sources
    from mle_ext_report.summary import summarise

    found: dict[str, list[float]] = defaultdict(list)
    for setup in summarise(read_sources(list(groups), [], runs)).setups:
        for line in setup.runs:
            if line.position is not None:
                found[line.competition].append(line.position)
    return {id: fmean(values) for id, values in found.items()}


def relate(found: Sequence[Measured]) -> list[Relation]:
    """How the value, and its difference from the base, relate to the position."""
    scored = [(each, each.position) for each in found if each.position is not None]
    y = [position for _, position in scored]
    columns = {"value": [each.value for each, _ in scored], "difference": [each.difference for each, _ in scored]}
    return [relation((name, "position"), x, y) for name, x in columns.items()]


def by_age(found: Sequence[Measured], ended: Mapping[str, date], cutoff: date) -> list[Ages]:
    """The difference and the position by age, over competitions whose end is known."""
    dated = [each for each in found if each.competition in ended]
    rows = [(each.position, ended[each.competition]) for each in dated]
    known = [(position, when) for position, when in rows if position is not None]
    return [
        ages("difference", [(each.difference, ended[each.competition]) for each in dated], cutoff),
        ages("position", known, cutoff),
    ]


def relation(between: tuple[str, str], x: Sequence[float], y: Sequence[float]) -> Relation:
    """Exact p for up to seven competitions, else 9,999 random permutations."""
    import numpy as np
    from scipy.stats import permutation_test, rankdata

    if len(x) < _FEWEST or len(set(x)) == 1 or len(set(y)) == 1:
        return Relation(between=between, competitions=len(x), rho=None, p=None)
    first, second = (rankdata(column) - (len(x) + 1) / 2 for column in (x, y))
    scale = math.sqrt(np.sum(first**2) * np.sum(second**2))
    tested = permutation_test(
        (first,),
        lambda shuffled, axis: np.sum(shuffled * second, axis=axis) / scale,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.inf if len(x) <= 7 else _RESAMPLES,
        rng=np.random.default_rng(0),
    )
    return Relation(between=between, competitions=len(x), rho=float(tested.statistic), p=float(tested.pvalue))


def ages(column: str, values: Sequence[tuple[float, date]], cutoff: date) -> Ages:
    """A competition that ended on the day of the cut-off is before it."""
    import numpy as np
    from scipy.stats import permutation_test

    parts = [
        [value for value, when in values if when <= cutoff],
        [value for value, when in values if when > cutoff],
    ]
    p = None
    if min(map(len, parts)) > 0 and len(values) >= _FEWEST:
        tested = permutation_test(
            tuple(parts),
            lambda before, after, axis: np.mean(before, axis=axis) - np.mean(after, axis=axis),
            vectorized=True,
            n_resamples=_RESAMPLES,
            rng=np.random.default_rng(0),
        )
        p = float(tested.pvalue)
    before, after = (fmean(part) if part else None for part in parts)
    return Ages(column=column, cutoff=cutoff, before=before, after=after, counts=(len(parts[0]), len(parts[1])), p=p)
