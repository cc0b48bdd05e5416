"""The benchmark's own numbers: shares of competitions in percent, as mean ± one standard error over seeds.

As MLE-bench (arXiv 2410.07095) counts: a seed gives one share, over all competitions of the split, and is complete when
it has a graded run of each of them. The standard error is the sample standard deviation over √n, and 0 for one seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from attrs import frozen

from mlecore.reports.benchmark import SPLITS, split_ids

MEDAL_RATES = ("any_medal", "gold", "silver", "bronze", "above_median")
RATES = (*MEDAL_RATES, "valid", "made")


@frozen(kw_only=True)
class Outcome:
    """What one run earned. ``ranked``: its competition has thresholds, so that medals could be earned at all."""

    ranked: bool = True
    any_medal: bool = False
    gold: bool = False
    silver: bool = False
    bronze: bool = False
    above_median: bool = False
    valid: bool = False
    made: bool = False
    beats_sample: bool | None = None


Seeds = Mapping[str, Mapping[str, Outcome]]
"""Seed -> competition -> outcome, of graded runs."""

FAILURE = Outcome()


@frozen(kw_only=True)
class Rate:
    """``mean`` ± ``sem``, both in percent."""

    mean: float
    sem: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.sem:.1f}"


@frozen(kw_only=True)
class SplitRates:
    """The rates over one list of competitions."""

    split: str  # "Low", "Medium", "High", "All" or "these"
    competitions: int
    seeds: tuple[str, ...]  # that count
    incomplete: Mapping[str, int]  # seeds that lack runs -> how many; left out, or padded with failures
    padded: bool
    rates: Mapping[str, Rate | None]  # None: no seed counts, or no medals can be earned here
    unranked: tuple[str, ...] = ()  # competitions without thresholds, which no medal rate counts


def rate(shares: Sequence[float]) -> Rate:
    """Mean and standard error, in percent, of one share a seed."""
    sem = statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else 0.0
    return Rate(mean=100 * statistics.fmean(shares), sem=100 * sem)


def all_rates(
    seeds: Seeds, chosen: Sequence[str] = (), pad: bool = False, kinds: Sequence[str] = RATES
) -> list[SplitRates]:
    """Low, Medium and High where a run is of them, All of the benchmark, and these: exactly those that were run.

    ``chosen`` competitions replace all that. "these" is left out where it is one of the others.
    """
    if chosen:
        return [split_rates("these", chosen, seeds, pad, kinds)]
    there = {competition for runs in seeds.values() for competition in runs}
    named = [(split, split_ids(split)) for split in SPLITS]
    rows = [(split.capitalize(), ids) for split, ids in named if there & set(ids)]
    if rows:
        rows.append(("All", split_ids("all")))
    if there and not any(there == set(ids) for _, ids in rows):
        rows.append(("these", tuple(sorted(there))))
    return [split_rates(name, ids, seeds, pad, kinds) for name, ids in rows]


def split_rates(
    name: str, wanted: Sequence[str], seeds: Seeds, pad: bool = False, kinds: Sequence[str] = RATES
) -> SplitRates:
    """The rates over the competitions ``wanted``.

    In "these" (a chosen list), competitions without thresholds count in no medal rate. A split of the benchmark has
    none of them; if data without thresholds replace one of its competitions, it has no medal rates.
    """
    missing = {seed: sum(competition not in runs for competition in wanted) for seed, runs in seeds.items()}
    incomplete = {seed: count for seed, count in missing.items() if count and count < len(wanted)}
    counted = tuple(seed for seed, count in missing.items() if not count or (pad and seed in incomplete))
    unranked = tuple(
        competition
        for competition in wanted
        if any(competition in runs and not runs[competition].ranked for runs in seeds.values())
    )
    ranked = [competition for competition in wanted if competition not in unranked]
    if unranked and name != "these":
        ranked = []
    rates = {
        kind: _rate(kind, ranked if kind in MEDAL_RATES else wanted, [seeds[seed] for seed in counted])
        for kind in kinds
    }
    return SplitRates(
        split=name,
        competitions=len(wanted),
        seeds=counted,
        incomplete=incomplete,
        padded=pad,
        rates=rates,
        unranked=unranked,
    )


def _rate(kind: str, competitions: Sequence[str], seeds: Sequence[Mapping[str, Outcome]]) -> Rate | None:
    if not competitions or not seeds:
        return None
    return rate(
        [
            statistics.fmean(bool(getattr(runs.get(competition, FAILURE), kind)) for competition in competitions)
            for runs in seeds
        ]
    )
