"""Rates over competitions and seeds."""

import math

from mlecore.reports.rates import RunResult, rate, rows


def test_rate_is_mean_and_standard_error() -> None:
    found = rate([0.5, 0.25, 0.75])
    assert found.mean == 50.0
    assert found.sem is not None and math.isclose(found.sem, 25 / math.sqrt(3))
    assert str(found) == "50.0 ± 14.4"
    assert str(rate([0.25])) == "25.0"


def test_rows_by_split() -> None:
    outcomes = [
        RunResult(competition="a", split="low", seed=0, any_medal=True, gold=True, valid=True),
        RunResult(competition="b", split="low", seed=0),
        RunResult(competition="a", split="low", seed=1),
        RunResult(competition="b", split="low", seed=1),
        RunResult(competition="c", split="high", seed=0, valid=True),
        RunResult(competition="d", split=None, seed=0, valid=True),
    ]
    low, high, everything = rows(outcomes)
    assert (low.split, low.competitions, low.seeds, low.uneven) == ("Low", 2, 2, False)
    assert (low.rates["any_medal"].mean, low.rates["any_medal"].sem) == (25.0, 25.0)
    assert (high.split, high.rates["valid"].mean, high.rates["valid"].sem) == ("High", 100.0, None)
    assert (everything.split, everything.competitions, everything.uneven) == ("All", 4, True)
    assert everything.rates["valid"].mean == (3 / 4 + 0) / 2 * 100


def test_no_outcomes_no_rows() -> None:
    assert rows([]) == []
