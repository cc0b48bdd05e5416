"""How often the report's test would find a difference between two setups, by simulation from the observed runs.

The model is a threshold model of correlated binary outcomes (Ochi and Prentice 1984, Biometrika 71, 531-543). A run
succeeds if a standard normal number is below a quantile: that of its setup's mean rate over competitions, so that the
difference is exactly the one chosen, and rates stay between 0 and 1. The number is the sum of the competition's
difficulty, which setups share; of how much it suits the setup, which seeds share; and of chance. Its two correlations,
of two setups and of two seeds on one competition, are those at which pairs of runs both succeed as often as observed.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mle_ext_report.sign_flips import ALPHA, p_values

TARGET = 80  # percent
SEEDS = (1, 3, 5, 10)
COMPETITIONS = (10, 22, 30, 75)
DRAWS = 2000
_REFITS, _REFIT_DRAWS = 60, 400
_CLOSEST = 0.999  # correlation of seeds that always end alike

Array = NDArray[Any]


@frozen(kw_only=True)
class Model:
    """Two setups, by their rates from 0 to 1, and how alike runs on one competition are."""

    low: float
    high: float
    setups: float  # correlation of runs of two setups
    seeds: float  # of two runs of one, not lower
    alike_setups: float  # observed share of pairs of runs that both succeed or both fail
    alike_seeds: float | None  # None: no setup ran a competition twice, and ``seeds`` is the highest possible


@frozen(kw_only=True)
class Cell:
    """A design: each setup runs each of so many competitions with so many seeds."""

    competitions: int
    seeds: int
    power: float  # chance in percent that p < 0.05
    error: float  # ± of the simulation in points, 95 %


@frozen(kw_only=True)
class Power:
    """How many runs find a difference of ``points``, in percentage points."""

    points: float
    setups: tuple[str, ...]  # keys of those that the model is fitted to
    competitions: int  # to which it is fitted
    model: Model
    cells: tuple[Cell, ...]
    needed: tuple[Cell, ...]  # for each number of seeds the fewest competitions with a power of 80 %, if any
    limit: int  # most competitions considered
    design: Cell  # the one of ``needed`` with the fewest runs, else the largest considered
    design_range: tuple[float, float]  # 95 % of its power in percent, if the model is fitted to resampled competitions


def estimate(wins: Array, runs: Array, points: float, keys: tuple[str, ...]) -> Power:
    """From ``wins`` of ``runs``, both setups x competitions, 0 of 0 where there are none."""
    observed = wins.shape[1]
    rows = sorted({*COMPETITIONS, observed})
    model = fit(wins, runs, points)
    seeds = SEEDS[:1] if model.alike_seeds is None else SEEDS
    drawn = {number: differences(model, rows[-1], number) for number in seeds}
    cells = tuple(_cell(drawn[number], row, number) for row in rows for number in seeds)
    needed = tuple(_fewest(drawn[number], number) for number in seeds if power(drawn[number]) >= TARGET)
    design = min(needed, key=lambda cell: (cell.competitions * cell.seeds, cell.seeds), default=cells[-1])
    resampled = np.random.default_rng(0).integers(observed, size=(_REFITS, observed))
    refits = (fit(wins[:, chosen], runs[:, chosen], points) for chosen in resampled)
    powers = [power(differences(refit, design.competitions, design.seeds, _REFIT_DRAWS)) for refit in refits]
    low, high = np.quantile(powers, (0.025, 0.975))
    return Power(
        points=points,
        setups=keys,
        competitions=observed,
        model=model,
        cells=cells,
        needed=needed,
        limit=rows[-1],
        design=design,
        design_range=(float(low), float(high)),
    )


def _cell(drawn: Array, competitions: int, seeds: int) -> Cell:
    found = power(drawn[:, :competitions])
    error = 1.96 * (found * (100 - found) / len(drawn)) ** 0.5
    return Cell(competitions=competitions, seeds=seeds, power=found, error=error)


def _fewest(drawn: Array, seeds: int) -> Cell:
    """By bisection, as power grows with the competitions; all of them suffice."""
    sizes = range(1, drawn.shape[1])
    found = bisect_left(sizes, True, key=lambda size: power(drawn[:, :size]) >= TARGET)
    return _cell(drawn, found + 1, seeds)


def power(drawn: Array) -> float:
    """The percentage of simulated reports with p < 0.05."""
    return 100 * float((p_values(drawn) < ALPHA).mean())


def differences(model: Model, competitions: int, seeds: int, draws: int = DRAWS) -> Array:
    """How many more of its ``seeds`` runs the better setup wins: simulated reports x competitions."""
    normal, shape = np.random.default_rng(0).standard_normal, (draws, competitions)
    difficulty = model.setups**0.5 * normal(shape)
    found = np.zeros(shape, dtype=int)
    for sign, threshold in zip((1, -1), _quantile(np.array((model.high, model.low))), strict=True):
        of_setup = difficulty + (model.seeds - model.setups) ** 0.5 * normal(shape)
        for _ in range(seeds):
            found += sign * (of_setup + (1 - model.seeds) ** 0.5 * normal(shape) < threshold)
    return found


def fit(wins: Array, runs: Array, points: float) -> Model:
    """The model, with rates ``points`` apart around the mean of the setups'."""
    ran, twice = (runs > 0).astype(float), (runs > 1).astype(float)
    share, again = wins / np.maximum(runs, 1), wins * (wins - 1) / np.maximum(runs * (runs - 1), 1)
    pairs = np.triu_indices(len(wins), 1)
    shared = np.maximum(ran @ ran.T, 1e-9)  # competitions of two setups; without any, all shares below are 0
    first, both = share @ ran.T / shared, share @ share.T / shared
    setups, alike_setups = _correlation(both[pairs], first[pairs], first.T[pairs])
    seeds, alike_seeds = _CLOSEST, None
    if twice.any():
        alone, together = ((twice * each).sum(axis=1) / np.maximum(twice.sum(axis=1), 1e-9) for each in (share, again))
        seeds, alike_seeds = _correlation(together, alone, alone)
    rate = float((share.sum(axis=1) / np.maximum(ran.sum(axis=1), 1e-9)).mean())
    low = min(max(rate - points / 200, 0.0), 1 - points / 100)
    return Model(
        low=low,
        high=low + points / 100,
        setups=min(setups, seeds),
        seeds=seeds,
        alike_setups=alike_setups,
        alike_seeds=alike_seeds,
    )


def _correlation(both: Array, first: Array, second: Array) -> tuple[float, float]:
    """The correlation at which pairs of runs with these chances of success both succeed as often as observed, and how
    often they end alike: means over the elements."""
    points = np.linspace(-6, 6, 301)
    chances = np.exp(-points * points / 2) / np.exp(-points * points / 2).sum()
    limits = [_quantile(each)[:, None] for each in (first, second)]
    low, high = 0.0, _CLOSEST
    for _ in range(14):
        middle = (low + high) / 2
        one, other = (np.interp((limit - middle**0.5 * points) / (1 - middle) ** 0.5, *_normal()) for limit in limits)
        low, high = (middle, high) if (one * other @ chances).mean() < both.mean() else (low, middle)
    return (low + high) / 2, float((1 - first - second + 2 * both).mean())


@cache
def _normal() -> tuple[Array, Array]:
    """The standard normal distribution, for interpolation to 1e-6."""
    values = np.linspace(-8, 8, 3201)
    return values, np.array([statistics.NormalDist().cdf(value) for value in values])


def _quantile(chances: Array) -> Array:
    values, cumulative = _normal()
    return np.interp(chances, cumulative, values)
