"""Intervals by their definitions: roots of equations, and a search for the values that a test does not reject."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np

Z = NormalDist().inv_cdf(0.975)


def share_interval(outcomes: Sequence[Sequence[int]]) -> list[float] | None:
    """Of the mean share of successes in percent, given 0 and 1 for the runs of each competition."""
    found = mean_interval([np.mean(each) for each in outcomes], sum(map(len, outcomes)))
    return None if found is None else [100 * end for end in found]


def mean_interval(values: Sequence[float], runs: int) -> list[float] | None:
    """Of the mean of one value per competition, each from 0 to 1."""
    n = len(values)
    if n < 2:
        return None
    mean, spread = float(np.mean(values)), float(np.var(values, ddof=1)) / n
    trials = float(n) if len(set(values)) == 1 else float(np.clip(mean * (1 - mean) / spread, n, runs))
    # The shares x from which the mean lies 1.96 standard errors: trials (mean - x)² = z² x (1 - x).
    roots = np.roots([trials + Z**2, -2 * trials * mean - Z**2, trials * mean**2]).real
    return [min(max(float(root), 0.0), 1.0) for root in sorted(roots)]


def difference_interval(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> list[float] | None:
    """Of the mean difference in percentage points: not rejected by the test of signs, or in Newcombe's interval."""
    newcombe = _newcombe(a, b)
    if newcombe is None:
        return None
    steps = [Fraction(sum(x), len(x)) - Fraction(sum(y), len(y)) for x, y in zip(a, b, strict=True)]
    test = SignTest(steps)
    low, high = test.interval()
    rejected = test.p(Fraction(0)) < 0.05
    ends = [min(low, newcombe[0]), max(high, newcombe[1])]
    if rejected and low > 0 >= ends[0]:
        ends[0] = low
    if rejected and high < 0 <= ends[1]:
        ends[1] = high
    return [100 * float(end) for end in ends]


def _newcombe(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> list[float] | None:
    of_a, of_b = share_interval(a), share_interval(b)
    if of_a is None or of_b is None:
        return None
    shares_a, shares_b = [np.mean(each) for each in a], [np.mean(each) for each in b]
    alike = np.corrcoef(shares_a, shares_b)[0, 1] if np.std(shares_a) > 1e-12 and np.std(shares_b) > 1e-12 else 0.0
    p, q = np.mean(shares_a), np.mean(shares_b)
    below = np.array([p - of_a[0] / 100, of_b[1] / 100 - q])
    above = np.array([of_a[1] / 100 - p, q - of_b[0] / 100])
    form = np.array([[1, -alike], [-alike, 1]])
    low, high = (math.sqrt(max(0.0, float(x @ form @ x))) for x in (below, above))
    return [max(-1.0, float(p - q) - low), min(1.0, float(p - q) + high)]


class SignTest:
    """Over all choices of signs, which are counted with whole numbers by how many are minus and what those sum to."""

    def __init__(self, steps: Sequence[Fraction]) -> None:
        self.steps = steps
        ways: dict[tuple[int, Fraction], int] = {(0, Fraction(0)): 1}
        for step in steps:
            more: dict[tuple[int, Fraction], int] = defaultdict(int)
            for (size, total), count in ways.items():
                more[size, total] += count
                more[size + 1, total + step] += count
            ways = more
        self.unit = math.lcm(*(step.denominator for step in steps))
        self.sizes = np.array([size for size, _ in ways])
        self.sums = np.array([int(total * self.unit) for _, total in ways])
        self.chances = np.array([count / 2 ** len(steps) for count in ways.values()])

    def p(self, shift: Fraction) -> float:
        """Two-sided, after ``shift`` was subtracted from each difference."""
        by = shift.denominator
        total = by * int(sum(self.steps) * self.unit) - len(self.steps) * shift.numerator * self.unit
        minus = by * self.sums - self.sizes * shift.numerator * self.unit
        return float(self.chances[np.abs(total - 2 * minus) >= abs(total)].sum())

    def interval(self) -> tuple[Fraction | float, Fraction | float]:
        """The first and the last value that is not rejected at 5 %; the test changes at means of subsets only."""
        mean = sum(self.steps, Fraction(0)) / len(self.steps)
        sizes, sums = self.sizes[self.sizes > 0], self.sums[self.sizes > 0]
        means = sorted({Fraction(int(total), int(size) * self.unit) for size, total in zip(sizes, sums, strict=True)})
        low = self._first([value for value in means if value <= mean])
        high = self._first([value for value in means[::-1] if value >= mean])
        return (-1.0 if self.p(Fraction(-1001, 1000)) >= 0.05 else low), (
            1.0 if self.p(Fraction(1001, 1000)) >= 0.05 else high
        )

    def _first(self, values: Sequence[Fraction]) -> Fraction:
        """Of values that come nearer to the mean."""
        below, at = -1, len(values) - 1
        while at - below > 1:
            middle = (below + at) // 2
            if self.p(values[middle]) >= 0.05:
                at = middle
            else:
                below = middle
        return values[at]
