"""The distributions that the report draws from, exactly where they can be counted."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

import numpy as np

from recomputed.matching import Between


def drawn_share(outcomes: Sequence[Sequence[int]]) -> Between:
    """Of the mean share in percent: competitions drawn with replacement, then each one's runs."""
    unit = _unit(outcomes)
    return _of_sum([_binomial(each, unit) for each in outcomes], unit, offset=0)


def drawn_difference(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> Between:
    """Of the mean difference: the competitions are the same for both, their runs are drawn apart."""
    unit = _unit([*a, *b])
    each = [np.convolve(_binomial(one, unit), _binomial(other, unit)[::-1]) for one, other in zip(a, b, strict=True)]
    return _of_sum(each, unit, offset=unit)


def _unit(outcomes: Sequence[Sequence[int]]) -> int:
    """Every share of runs is a whole multiple of 1 / this."""
    return math.lcm(*map(len, outcomes))


def _binomial(outcomes: Sequence[int], unit: int) -> np.ndarray:
    """The chances of 0, 1 ... ``unit`` units, if as many runs are drawn from these."""
    n, share = len(outcomes), sum(outcomes) / len(outcomes)
    chances = np.zeros(unit + 1)
    for k in range(n + 1):
        chances[k * unit // n] = math.comb(n, k) * share**k * (1 - share) ** (n - k)
    return chances


def _of_sum(each: Sequence[np.ndarray], unit: int, offset: int) -> Between:
    """``offset``: the index of 0 in each distribution."""
    one = np.mean(each, axis=0)
    total = np.ones(1)
    for _ in each:
        total = np.convolve(total, one)
    up_to = np.cumsum(total)

    def at(index: int) -> float:
        return 0.0 if index < 0 else float(up_to[min(index, len(up_to) - 1)])

    def below(percent: float) -> tuple[float, float]:
        index = (percent / 100 * unit + offset) * len(each)
        return at(math.ceil(index - 1e-6) - 1), at(math.floor(index + 1e-6))

    return Between(below)


def drawn_mean(values: Sequence[float]) -> Between:
    """Of a mean of real numbers: drawn, as it has too many values to count."""
    draw = random.Random(1)
    means = np.sort([statistics.fmean(draw.choices(values, k=len(values))) for _ in range(10_000)])

    def below(value: float) -> tuple[float, float]:
        low = np.searchsorted(means, value - 1e-9, "left") / len(means)
        return float(low), float(np.searchsorted(means, value + 1e-9, "right") / len(means))

    return Between(below)
