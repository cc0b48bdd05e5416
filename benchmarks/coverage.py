"""How often the intervals of reports contain the true value, in simulated results of agents.

    python benchmarks/coverage.py [--draws N]

Each draw is a report's data: n competitions, each with a chance of success of its own, drawn from a beta distribution,
and some seeds on each. ``alike`` is the correlation between two runs of one competition: at 0.8, nearly all seeds of
a competition end the same way. Two agents that are compared find the same competitions hard (a Gaussian copula with
correlation 0.7). The true value is that of the population of competitions.

For each n and number of seeds, the table has the lowest and the highest coverage of the scenarios below, and the mean
width in percentage points; 95 % is intended. "p < 0.05" is how often that occurs, at most, between two agents that are
equally good. With 5 competitions no difference can reach it, and the interval of a difference is -100 to 100. Takes
five minutes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy import stats

from mlecore.reports.statistics import Counts, Interval, mean_interval, paired_difference, rate_interval

COMPETITIONS = (5, 10, 22, 75)
SEEDS = (1, 3)
ALIKE = (0.3, 0.8)
RATES = (0.05, 0.2, 0.5, 0.8)
PAIRS = ((0.05, 0.05), (0.1, 0.02), (0.3, 0.3), (0.5, 0.3), (0.7, 0.4))
SHARED = 0.7

Held = list[tuple[bool, float]]
"""Of each draw: does the interval contain the true value, and how wide is it?"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000, help="reports of each scenario")
    draws = parser.parse_args().draws
    print("| competitions | seeds | a rate | a mean position | a difference | p < 0.05 |\n|---|---|---|---|---|---|")
    for n, seeds in itertools.product(COMPETITIONS, SEEDS):
        rng = np.random.default_rng(n * 100 + seeds)
        found: dict[str, list[Held]] = defaultdict(list)
        false_alarms = []
        for alike in ALIKE:
            for rate in RATES:
                found["rate"].append(list(rates(rng, n, seeds, rate, alike, draws)))
                found["position"].append(list(positions(rng, n, seeds, rate, alike, draws)))
            for pair in PAIRS:
                held, alarms = differences(rng, n, seeds, pair, alike, draws)
                found["difference"].append(held)
                false_alarms += [alarms] if pair[0] == pair[1] else []
        cells = [cell(found[what]) for what in ("rate", "position", "difference")]
        print(f"| {n} | {seeds} | {' | '.join(cells)} | {100 * max(false_alarms):.1f} % |", flush=True)


def cell(scenarios: list[Held]) -> str:
    coverage = [100 * statistics.fmean(held for held, _ in scenario) for scenario in scenarios]
    width = statistics.fmean(width for scenario in scenarios for _, width in scenario)
    return f"{min(coverage):.1f} to {max(coverage):.1f} %, width {width:.0f}"


def rates(rng: Generator, n: int, seeds: int, rate: float, alike: float, draws: int) -> Iterator[tuple[bool, float]]:
    for _ in range(draws):
        chances = rng.beta(*shape(rate, alike), size=n)
        yield held(rate_interval(counted(rng.binomial(seeds, chances), seeds)), 100 * rate)


def positions(
    rng: Generator, n: int, seeds: int, mean: float, alike: float, draws: int
) -> Iterator[tuple[bool, float]]:
    """Scores between the sample's and gold scatter around a mean of their competition."""
    for _ in range(draws):
        centres = np.clip(rng.beta(*shape(mean, 0.3), size=n), 1e-6, 1 - 1e-6)
        spread = (1 - alike) / alike  # runs of a competition are the more alike, the more precise their distribution
        values = rng.beta(centres / spread, (1 - centres) / spread, size=(seeds, n)).mean(axis=0)
        found = mean_interval(values.tolist(), n * seeds)
        yield held(None if found is None else (100 * found[0], 100 * found[1]), 100 * mean)


def differences(
    rng: Generator, n: int, seeds: int, pair: tuple[float, float], alike: float, draws: int
) -> tuple[Held, float]:
    found, alarms = [], 0
    for _ in range(draws):
        common = rng.normal(size=n)
        sides = []
        for rate in pair:
            own = math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * rng.normal(size=n)
            chances = stats.beta.ppf(stats.norm.cdf(own), *shape(rate, alike))
            sides.append(counted(rng.binomial(seeds, chances), seeds))
        result = paired_difference(*sides)
        found.append(held(result.interval, 100 * (pair[0] - pair[1])))
        alarms += result.p < 0.05
    return found, alarms / draws


def shape(mean: float, alike: float) -> tuple[float, float]:
    """The parameters of the beta distribution of chances that gives two runs of a competition this correlation."""
    total = (1 - alike) / alike
    return mean * total, (1 - mean) * total


def counted(successes: np.ndarray, seeds: int) -> Counts:
    return {str(number): (int(wins), seeds) for number, wins in enumerate(successes)}


def held(interval: Interval | None, true: float) -> tuple[bool, float]:
    assert interval is not None
    return interval[0] - 1e-9 <= true <= interval[1] + 1e-9, interval[1] - interval[0]


if __name__ == "__main__":
    main()
