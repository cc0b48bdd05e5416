"""Intervals, tests and estimators against slow, independent ways to the same numbers."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from fractions import Fraction

import pytest
from mle_ext_report import sign_flips as module
from mle_ext_report.sign_flips import sign_flips
from mle_ext_report.statistics import (
    holm,
    mean_interval,
    paired_difference,
    pass_at_k,
    rate_interval,
    wilson,
)


def all_signs(differences: list[Fraction], shift: Fraction = Fraction(0)) -> Fraction:
    """The test's p by its definition, after ``shift`` was subtracted from each difference."""
    shifted = [difference - shift for difference in differences]
    sums = [
        abs(sum(s * d for s, d in zip(signs, shifted, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(shifted))
    ]
    return Fraction(sum(value >= abs(sum(shifted)) for value in sums), len(sums))


def drawn(draw: random.Random, most: int = 11) -> list[Fraction]:
    return [Fraction(draw.randrange(-3, 4), 3) for _ in range(draw.randrange(1, most))]


def test_the_permutation_test_is_exact() -> None:
    draw = random.Random(0)
    for _ in range(20):
        differences = drawn(draw)
        assert sign_flips(differences).p == pytest.approx(float(all_signs(differences)), abs=1e-12)


def test_the_interval_holds_what_the_test_does_not_reject() -> None:
    draw = random.Random(1)
    tiny = Fraction(1, 10**6)
    limited = 0
    for _ in range(20):
        differences = drawn(draw, most=8)
        found = sign_flips(differences)
        for end, outward in ((found.low, -tiny), (found.high, tiny)):
            if math.isinf(end):
                assert all_signs(differences, 100 * outward / tiny) >= 0.05
                continue
            limited += 1
            at = Fraction(end).limit_denominator(1000)  # the mean of a subset of thirds
            assert all_signs(differences, at) >= 0.05 > all_signs(differences, at + outward)
    assert limited > 10


def test_drawn_subsets_come_near_to_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(2)
    differences = [Fraction(draw.randrange(-2, 4), 3) for _ in range(40)]
    exact = sign_flips(differences)
    monkeypatch.setattr(module, "_LARGEST", 0)
    near = sign_flips(differences)
    assert near == sign_flips(differences)
    assert near.p == pytest.approx(exact.p, abs=0.005)
    assert (near.low, near.high) == (pytest.approx(exact.low, abs=0.01), pytest.approx(exact.high, abs=0.01))


def test_an_interval_agrees_with_its_test() -> None:
    """It excludes 0 exactly if p < 0.05, and holds the difference."""
    draw = random.Random(4)
    significant = 0
    for _ in range(150):
        ids = [str(number) for number in range(draw.randrange(2, 40))]
        skill = draw.random()
        a = {id: (draw.choices(range(4), (1, 1, 1, 1 + 3 * skill))[0], 3) for id in ids}
        b = {id: (draw.choices(range(3), (3, 1, 1))[0], 2) for id in ids}
        found = paired_difference(a, b)
        assert found.interval is not None
        low, high = found.interval
        assert (low > 0 or high < 0) == (found.p < 0.05)
        assert low <= found.difference <= high
        assert found.smallest_p <= found.p
        significant += found.p < 0.05
    assert 30 < significant < 140


def test_wilson() -> None:
    """Against the ends that Newcombe published (1998, Statistics in Medicine 17, 857-872, table I)."""
    for wins, runs, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        assert wilson(wins / runs, runs) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_no_success_is_no_certainty() -> None:
    nothing = rate_interval({str(number): (0, 1) for number in range(20)})
    assert nothing == (0.0, pytest.approx(16.11, abs=0.01))
    everything = rate_interval({str(number): (3, 3) for number in range(20)})
    assert everything == (pytest.approx(100 - 16.11, abs=0.01), 100.0)
    assert rate_interval({"a": (1, 3)}) is None
    alike = paired_difference({str(n): (0, 3) for n in range(20)}, {str(n): (0, 3) for n in range(20)})
    assert alike.p == 1.0 and alike.interval is not None
    assert alike.interval == (pytest.approx(-16.11, abs=0.01), pytest.approx(16.11, abs=0.01))


def test_runs_of_a_competition_count_as_far_as_they_differ() -> None:
    """Three runs that always end alike are one trial; three that end as if by chance are nearly three."""
    alike = rate_interval({str(number): (3 * (number % 2), 3) for number in range(40)})
    assert alike == tuple(100 * end for end in wilson(0.5, 40))
    draw = random.Random(5)
    apart = rate_interval({str(number): (sum(draw.random() < 0.5 for _ in range(3)), 3) for number in range(400)})
    assert alike is not None and apart is not None
    assert apart[1] - apart[0] == pytest.approx(100 * 2 * 1.96 * 0.5 / math.sqrt(1200), rel=0.1)


def test_the_interval_of_a_mean() -> None:
    found = mean_interval([0.4, 0.6] * 50, 300)
    assert found == wilson(0.5, 300)  # they vary less than 300 independent runs would
    assert mean_interval([1.0], 3) is None
    values = [0.0, 0.5, 1.0] * 10
    expected = 0.25 / (statistics.variance(values) / 30)
    assert mean_interval(values, 60) == wilson(0.5, expected)


def test_holm() -> None:
    """The example of R's p.adjust: a step down, never below the step before."""
    assert holm([0.01, 0.02, 0.03, 0.04]) == [0.04, 0.06, 0.06, 0.06]
    assert holm([0.5, 0.001, 0.04]) == [0.5, 0.003, 0.08]
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []


def test_pass_at_k_counts_every_choice() -> None:
    for n, c in ((3, 1), (5, 2), (6, 0), (4, 4)):
        for k in range(1, n + 1):
            chosen = list(itertools.combinations([True] * c + [False] * (n - c), k))
            assert pass_at_k(n, c, k) == pytest.approx(statistics.fmean(map(any, chosen)))


@pytest.mark.parametrize("chance", [0.1])
def test_coverage(chance: float) -> None:
    """Of 1000 simulated reports on ten competitions."""
    draw = random.Random(6)

    def counts() -> dict[str, tuple[int, int]]:
        return {str(n): (sum(draw.random() < hard for _ in range(3)), 3) for n, hard in enumerate(chances)}

    rates = differences = 0
    for _ in range(1000):
        chances = [draw.betavariate(chance, 1 - chance) for _ in range(10)]  # two runs of one agree with 0.5
        a, b = counts(), counts()
        interval, difference = rate_interval(a), paired_difference(a, b).interval
        assert interval is not None and difference is not None
        rates += interval[0] <= 100 * chance <= interval[1]
        differences += difference[0] <= 0 <= difference[1]
    assert rates / 1000 > 0.92 and differences / 1000 > 0.94
