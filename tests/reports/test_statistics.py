"""Intervals, tests and estimators against slow, independent ways to the same numbers."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest

from mlecore.reports.statistics import (
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_rate,
    chance_to_win,
    pass_at_k,
    permutation_test,
)


def all_signs(differences: list[float]) -> float:
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return statistics.fmean(value >= observed - 1e-9 for value in sums)


def test_the_permutation_test_is_exact() -> None:
    draw = random.Random(0)
    for _ in range(20):
        differences = [draw.randrange(-3, 4) / 3 for _ in range(draw.randrange(1, 12))]
        assert permutation_test(differences) == pytest.approx(all_signs(differences), abs=1e-12)


def test_known_permutation_tests() -> None:
    assert permutation_test([1.0] * 5) == 2 / 32
    assert permutation_test([0.0, 0.0]) == 1.0
    assert permutation_test([1 / 3, -1 / 3]) == 1.0
    assert permutation_test([1 / 16] * 75) == pytest.approx(2**-74)


def test_the_bootstrap_of_a_rate() -> None:
    draw = random.Random(1)
    counts = {str(n): (draw.randrange(4), 3) for n in range(75)}
    found = bootstrap_rate(counts)
    assert found is not None and found == bootstrap_rate(counts)
    shares = [100 * wins / runs for wins, runs in counts.values()]
    within = statistics.fmean(p * (100 - p) / 3 for p in shares)  # the variance that drawing runs adds
    spread = 1.96 * math.sqrt((statistics.pvariance(shares) + within) / 75)
    mean = statistics.fmean(shares)
    assert found[0] == pytest.approx(mean - spread, abs=1.5)
    assert found[1] == pytest.approx(mean + spread, abs=1.5)
    assert bootstrap_rate({"a": (1, 3)}) is None
    assert bootstrap_rate({"a": (3, 3), "b": (1, 1)}) == (100.0, 100.0)


def test_a_difference_is_paired() -> None:
    """Competitions differ much, the agents on each of them hardly: pairing sees it."""
    a = {str(n): (100 if n % 2 else 10, 100) for n in range(40)}
    b = {str(n): (99 if n % 2 else 5, 100) for n in range(40)}
    found = bootstrap_difference(a, {**b, "only here": (1, 1)})
    assert found is not None and 0 < found[0] < 3 < found[1] < 6
    assert bootstrap_difference(a, {"0": (1, 1)}) is None


def test_the_bootstrap_of_a_mean() -> None:
    found = bootstrap_mean([0.0, 1.0] * 50)
    assert found is not None
    assert found[0] == pytest.approx(0.4, abs=0.03) and found[1] == pytest.approx(0.6, abs=0.03)
    assert bootstrap_mean([1.0]) is None


def test_chance_to_win() -> None:
    assert chance_to_win([2.0], [1.0]) == 1.0
    assert chance_to_win([1.0, 3.0], [2.0, 3.0]) == (0 + 0 + 1 + 0.5) / 4
    assert chance_to_win([-math.inf], [-math.inf]) == 0.5


def test_pass_at_k_counts_every_choice() -> None:
    for n, c in ((3, 1), (5, 2), (6, 0), (4, 4)):
        for k in range(1, n + 1):
            chosen = list(itertools.combinations([True] * c + [False] * (n - c), k))
            assert pass_at_k(n, c, k) == pytest.approx(statistics.fmean(map(any, chosen)))


def test_pass_at_k_of_thousands_of_runs() -> None:
    n, c = 2000, 300
    for k in (1, 7, 299, 300, 301, 1699, 1700, 1701, 2000):
        assert pass_at_k(n, c, k) == pytest.approx(1 - math.comb(n - c, k) / math.comb(n, k), abs=1e-12)
