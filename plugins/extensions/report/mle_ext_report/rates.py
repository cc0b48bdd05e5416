"""The benchmark's own numbers: shares of competitions in percent, as mean ± one standard error over seeds.

As MLE-bench (arXiv 2410.07095) counts: a seed gives one share, over all competitions of the split, and is complete when
it has a graded run for each of them. The standard error is the sample standard deviation over √n; a single seed has
none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from mle_ext_report.benchmark import SPLITS, comparable, further_splits, split_ids
from mle_ext_report.statistics import Counts

MEDALS = ("gold", "silver", "bronze")
MEDAL_RATES = ("any_medal", *MEDALS, "above_median")
PERCENTILE = "percentile"  # the mean percentile, where leaderboards are at hand
RATES = (*MEDAL_RATES, PERCENTILE, "valid", "made")

_NAMED = 5  # competitions that a sentence names


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
    percentile: float | None = None  # among human teams, from 0 to 100; None: unknown, which is 0 without a submission

    def share(self, rate: str) -> float:
        """What the run adds to a rate, from 0 to 1."""
        value = getattr(self, rate)
        return (value or 0.0) / 100 if rate == PERCENTILE else float(bool(value))


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

    split: str  # "Low", "Medium", "High", "All", another split such as "my-lab", or "these"
    competitions: int
    ids: tuple[str, ...]  # of the competitions
    seeds: tuple[str, ...]  # that count
    incomplete: Mapping[str, int]  # seed -> how many graded runs it lacks; left out, or padded with failures
    padded: bool
    rates: Mapping[str, Rate | None]  # None: no seed counts, or no medals can be earned here
    unranked: tuple[str, ...] = ()  # competitions without a comparable leaderboard, which no medal rate counts
    unplaced: tuple[str, ...] = ()  # those without a leaderboard at hand, too, which no mean percentile counts

    @property
    def left_out(self) -> str:
        """Which competitions medal rates leave out; empty if they count all, or none."""
        return left_out(self.ids, self.unranked)

    @property
    def unplaced_words(self) -> str:
        """The same of the mean percentile; empty if it counts what medal rates count."""
        more = {*self.unplaced} > {*self.unranked}
        return left_out(self.ids, self.unplaced, "has no leaderboard at hand", "have no leaderboards") if more else ""

    def counted(self, rate: str) -> list[str]:
        """The competitions that a rate counts."""
        without = self.unplaced if rate == PERCENTILE else self.unranked if rate in MEDAL_RATES else ()
        return [id for id in self.ids if id not in without]


def rate(shares: Sequence[float]) -> Rate:
    """Mean and standard error, in percent, of one share per seed."""
    sem = 100 * statistics.stdev(shares) / math.sqrt(len(shares)) if len(shares) > 1 else None
    return Rate(mean=100 * statistics.fmean(shares), sem=sem)


def unranked(
    competitions: Iterable[str], edition: str = "v1", runs: Iterable[tuple[str, bool]] = ()
) -> tuple[str, ...]:
    """Competitions that no medal rate counts: their human leaderboard does not compare with the edition, or one of the
    runs (competition, could it earn a medal?) shows that there is none."""
    without = {competition for competition, could in runs if not could}
    return tuple(id for id in competitions if id in without or not comparable(id, edition))


def left_out(
    competitions: Sequence[str], without: Sequence[str], one: str = "awards no medals", several: str = "award no medals"
) -> str:
    """Such as "21 of 22: random-acts-of-pizza awards no medals"; empty for none and for all of them."""
    number, of = len(without), len(competitions)
    names = ", ".join(without[:_NAMED]) + (f" and {number - _NAMED} more" if number > _NAMED else "")
    return f"{of - number} of {of}: {names} {one if number == 1 else several}" if 0 < number < of else ""


def counts(runs: Iterable[tuple[str, object]], rate: str) -> Counts:
    """Competition -> (runs that succeeded, runs). The attribute ``rate`` of each run says whether it did."""
    found: dict[str, tuple[int, int]] = {}
    for competition, run in runs:
        wins, of = found.get(competition, (0, 0))
        found[competition] = wins + bool(getattr(run, rate)), of + 1
    return found


def all_rates(
    seeds: Seeds,
    chosen: Sequence[str] = (),
    pad: bool = False,
    kinds: Sequence[str] = RATES,
    edition: str = "v1",
) -> list[SplitRates]:
    """Low, Medium and High if a planned run belongs to them, All of the benchmark, other splits in the same way, and
    these: exactly those planned.

    ``chosen`` competitions replace all that. "these" is left out if it is the same as one of the others.
    """
    if chosen:
        return [split_rates("these", chosen, seeds, pad, kinds, edition)]
    planned = {competition for runs in seeds.values() for competition in runs}
    named = [(split, split_ids(split)) for split in SPLITS]
    rows = [(split.capitalize(), ids) for split, ids in named if planned & set(ids)]
    if rows:
        rows.append(("All", split_ids("all")))
    further = [(split, split_ids(split)) for split in further_splits()]
    rows += [(split, ids) for split, ids in further if planned & set(ids)]
    if planned and not any(planned == set(ids) for _, ids in rows):
        rows.append(("these", tuple(sorted(planned))))
    return [split_rates(name, ids, seeds, pad, kinds, edition) for name, ids in rows]


def split_rates(
    name: str,
    wanted: Sequence[str],
    seeds: Seeds,
    pad: bool = False,
    kinds: Sequence[str] = RATES,
    edition: str = "v1",
) -> SplitRates:
    """The rates over the competitions ``wanted``. A seed belongs to them if one of its runs was planned on any of them.

    Medal rates leave out competitions without a comparable leaderboard. If no run could earn a medal, there are none.
    The mean percentile also leaves out those whose leaderboard was not at hand.
    """
    missing = {
        seed: sum(competition not in runs or runs[competition].missing for competition in wanted)
        for seed, runs in seeds.items()
        if any(competition in runs for competition in wanted)
    }
    incomplete = {seed: count for seed, count in missing.items() if count}
    counted = tuple(seed for seed in missing if pad or seed not in incomplete)
    runs = [(competition, run) for of in seeds.values() for competition, run in of.items()]
    without = unranked(wanted, edition, ((competition, run.ranked) for competition, run in runs))
    absent = {*(() if any(run.ranked for _, run in runs) else MEDAL_RATES)}
    absent |= {*(() if any(run.percentile is not None for _, run in runs) else (PERCENTILE,))}
    unplaced = {*without, *_unplaced(runs)} if PERCENTILE not in absent else set()
    row = SplitRates(
        split=name,
        competitions=len(wanted),
        ids=tuple(wanted),
        seeds=counted,
        incomplete=incomplete,
        padded=pad,
        rates={},
        unranked=without,
        unplaced=tuple(id for id in wanted if id in unplaced),
    )
    of_seeds = [seeds[seed] for seed in counted]
    return evolve(
        row, rates={kind: None if kind in absent else _rate(kind, row.counted(kind), of_seeds) for kind in kinds}
    )


def _unplaced(runs: Iterable[tuple[str, Outcome]]) -> set[str]:
    """Competitions without a leaderboard at hand: a valid submission without a percentile shows it, or results that all
    have none. Of a competition without results nobody knows."""
    results: dict[str, list[Outcome]] = {}
    for competition, run in runs:
        if not run.missing:
            results.setdefault(competition, []).append(run)
    return {
        competition
        for competition, of in results.items()
        if any(run.valid and run.percentile is None for run in of) or all(run.percentile is None for run in of)
    }


def _rate(kind: str, competitions: Sequence[str], seeds: Sequence[Mapping[str, Outcome]]) -> Rate | None:
    if not competitions or not seeds:
        return None
    return rate(
        [statistics.fmean(runs.get(competition, FAILURE).share(kind) for competition in competitions) for runs in seeds]
    )
