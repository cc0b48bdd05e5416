"""The benchmark's own numbers: shares of competitions in percent, as mean ± one standard error over seeds.

As MLE-bench (arXiv 2410.07095) counts: a seed gives one share, over all competitions of the split, and is complete when
it has a graded run for each of them. The standard error is the sample standard deviation over √n; a single seed has
none.
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
    missing: bool = False  # it was planned, but there is no graded run
    any_medal: bool = False
    gold: bool = False
    silver: bool = False
    bronze: bool = False
    above_median: bool = False
    valid: bool = False
    made: bool = False
    beats_sample: bool | None = None


Seeds = Mapping[str, Mapping[str, Outcome]]
"""Seed -> competition -> outcome, of all planned runs."""

FAILURE = Outcome()


@frozen(kw_only=True)
class Rate:
    """``mean`` ± ``sem``, both in percent; the latter is the standard error over seeds, None for a single one."""

    mean: float
    sem: float | None

    def __str__(self) -> str:
        return self.rounded(1)

    def rounded(self, digits: int) -> str:
        error = "" if self.sem is None else f" ± {self.sem:.{digits}f}"
        return f"{self.mean:.{digits}f}{error}"


@frozen(kw_only=True)
class SplitRates:
    """The rates over one list of competitions."""

    split: str  # "Low", "Medium", "High", "All" or "these"
    competitions: int
    ids: tuple[str, ...]  # of the competitions
    seeds: tuple[str, ...]  # that count
    incomplete: Mapping[str, int]  # seed -> how many graded runs it lacks; left out, or padded with failures
    padded: bool
    rates: Mapping[str, Rate | None]  # None: no seed counts, or no medals can be earned here
    unranked: tuple[str, ...] = ()  # competitions without thresholds, which no medal rate counts


def rate(shares: Sequence[float]) -> Rate:
    """Mean and standard error, in percent, of one share per seed."""
    sem = 100 * statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else None
    return Rate(mean=100 * statistics.fmean(shares), sem=sem)


def all_rates(
    seeds: Seeds, chosen: Sequence[str] = (), pad: bool = False, kinds: Sequence[str] = RATES
) -> list[SplitRates]:
    """Low, Medium and High if a planned run belongs to them, All of the benchmark, and these: exactly those planned.

    ``chosen`` competitions replace all that. "these" is left out if it is the same as one of the others.
    """
    if chosen:
        return [split_rates("these", chosen, seeds, pad, kinds)]
    planned = {competition for runs in seeds.values() for competition in runs}
    named = [(split, split_ids(split)) for split in SPLITS]
    rows = [(split.capitalize(), ids) for split, ids in named if planned & set(ids)]
    if rows:
        rows.append(("All", split_ids("all")))
    if planned and not any(planned == set(ids) for _, ids in rows):
        rows.append(("these", tuple(sorted(planned))))
    return [split_rates(name, ids, seeds, pad, kinds) for name, ids in rows]


def split_rates(
    name: str, wanted: Sequence[str], seeds: Seeds, pad: bool = False, kinds: Sequence[str] = RATES
) -> SplitRates:
    """The rates over the competitions ``wanted``. A seed belongs to them if one of its runs was planned on any of them.

    In "these" (a chosen list), competitions without thresholds count in no medal rate. A split of the benchmark has
    none of them; if data without thresholds replace one of its competitions, it has no medal rates.
    """
    missing = {
        seed: sum(competition not in runs or runs[competition].missing for competition in wanted)
        for seed, runs in seeds.items()
        if any(competition in runs for competition in wanted)
    }
    incomplete = {seed: count for seed, count in missing.items() if count}
    counted = tuple(seed for seed in missing if pad or seed not in incomplete)
    unranked = tuple(
        competition
        for competition in wanted
        if any(competition in runs and not runs[competition].ranked for runs in seeds.values())
    )
    ranked = [competition for competition in wanted if competition not in unranked]
    if unranked and (name != "these" or not any(item.ranked for runs in seeds.values() for item in runs.values())):
        ranked = []
    rates = {
        kind: _rate(kind, ranked if kind in MEDAL_RATES else wanted, [seeds[seed] for seed in counted])
        for kind in kinds
    }
    return SplitRates(
        split=name,
        competitions=len(wanted),
        ids=tuple(wanted),
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
