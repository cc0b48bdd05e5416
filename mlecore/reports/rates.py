"""Rates in percent over the competitions of a split, as mean and standard error over seeds."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from attrs import frozen

RATES = ("any_medal", "gold", "silver", "bronze", "above_median", "valid", "submitted")


@frozen(kw_only=True)
class RunResult:
    """What one run earned."""

    competition: str
    split: str | None
    seed: int
    any_medal: bool = False
    gold: bool = False
    silver: bool = False
    bronze: bool = False
    above_median: bool = False
    valid: bool = False
    submitted: bool = False


@frozen(kw_only=True)
class Rate:
    """``mean`` ± ``sem``, both in percent. ``sem`` is None for a single seed."""

    mean: float
    sem: float | None

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.sem is None else f"{self.mean:.1f} ± {self.sem:.1f}"


@frozen(kw_only=True)
class Row:
    """The rates of one split."""

    split: str  # "Low", "Medium", "High" or "All"
    competitions: int
    seeds: int
    uneven: bool  # the seeds do not all cover the same competitions
    rates: dict[str, Rate]


def rate(per_seed: Sequence[float]) -> Rate:
    """Mean and standard error of the mean (sample standard deviation / √n) of one share a seed."""
    sem = statistics.stdev(per_seed) / math.sqrt(len(per_seed)) if len(per_seed) > 1 else None
    return Rate(mean=100 * statistics.fmean(per_seed), sem=None if sem is None else 100 * sem)


def rows(outcomes: Iterable[RunResult]) -> list[Row]:
    """Low, Medium, High (those that occur) and All. A competition outside the three splits counts in All alone."""
    by_split: dict[str, list[RunResult]] = defaultdict(list)
    for outcome in outcomes:
        by_split["All"].append(outcome)
        if outcome.split in ("low", "medium", "high"):
            by_split[outcome.split.capitalize()].append(outcome)
    return [_row(split, by_split[split]) for split in ("Low", "Medium", "High", "All") if split in by_split]


def _row(split: str, outcomes: list[RunResult]) -> Row:
    by_seed: dict[int, list[RunResult]] = defaultdict(list)
    for outcome in outcomes:
        by_seed[outcome.seed].append(outcome)
    sets = {frozenset(o.competition for o in seed) for seed in by_seed.values()}
    return Row(
        split=split,
        competitions=len(frozenset().union(*sets)),
        seeds=len(by_seed),
        uneven=len(sets) > 1,
        rates={
            name: rate([statistics.fmean(getattr(o, name) for o in seed) for seed in by_seed.values()])
            for name in RATES
        },
    )
