"""Copies of a column are recognised whatever was done to hide them, and honest predictions are not taken for copies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from mlecore_audit.columns import copy_of, order_bits

Numbers = NDArray[np.float64]
DICE = np.random.default_rng(7)
ROWS = 400
NORMAL = DICE.normal(size=ROWS)
COLUMNS = {
    "normal": NORMAL,
    "heavy tails": np.exp(4 * NORMAL),
    "large numbers": 1.6e9 + 1e5 * NORMAL,
    "small numbers": 1e-8 * NORMAL,
    "few values": DICE.integers(0, 12, ROWS).astype(float),
    "mostly one value": np.where(DICE.random(ROWS) < 0.8, 0.0, NORMAL),
}


def spread(column: Numbers) -> float:
    """Of most values: noise beyond that would hide the small ones."""
    low, high = np.quantile(column, [0.05, 0.95])
    return float(high - low)


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(
    ("change", "relation"),
    [
        (lambda x: x, "equal"),
        (lambda x: x + 1e-9 * spread(x) * DICE.normal(size=len(x)), "equal"),
        (lambda x: 0.1 * x, "linear"),
        (lambda x: 3 - 7 * x, "linear"),
        (lambda x: 0.1 * x + 1e-8 * spread(x) * DICE.normal(size=len(x)), "linear"),
        (lambda x: np.argsort(np.argsort(x)) ** 2.0, None),
        (lambda x: -np.cbrt(x), None),
        (lambda x: np.where(np.arange(len(x)) == 3, -x, x), "equal"),
    ],
    ids=["same", "noise", "tenth", "turned", "noisy tenth", "ranks", "falling curve", "a row altered"],
)
def test_copies(column: Numbers, change: Callable[[Numbers], Numbers], relation: str | None) -> None:
    found = copy_of(change(column), column)
    if found is None:
        assert relation is None and len(np.unique(column)) < ROWS / 2  # ranks break ties, which the column has
        return
    assert found.relation == (relation or found.relation) and found.bits > 100


@pytest.mark.parametrize("noise", [0.001, 0.01, 0.1, 0.3, 1.0])
def test_a_model_that_is_nearly_right_is_no_copy(noise: float) -> None:
    """Rank correlations from 0.7 to 0.999999: no order of hundreds of rows comes out right by itself."""
    assert copy_of(NORMAL + noise * DICE.normal(size=ROWS), NORMAL) is None


def test_constant_columns_and_tiny_tables_say_nothing() -> None:
    assert copy_of(np.ones(ROWS), NORMAL) is None and copy_of(NORMAL, np.ones(ROWS)) is None
    assert copy_of(NORMAL[:1], NORMAL[:1]) is None and copy_of(NORMAL[:0], NORMAL[:0]) is None
    few = copy_of(NORMAL[:5], 2 * NORMAL[:5])
    assert few is not None and few.bits == pytest.approx(math.log2(math.factorial(5)))
    one_of_many = copy_of((np.arange(ROWS) == 7).astype(float), (np.arange(ROWS) == 7).astype(float))
    assert one_of_many is None or one_of_many.bits < 10  # one row in 400: log2(400)


def test_what_ties_are_worth() -> None:
    labels = np.array([0, 0, 1, 1])
    assert order_bits(labels, np.array([1, 2, 3, 4])) == pytest.approx(math.log2(6))
    assert order_bits(labels, np.array([1, 1, 2, 2])) == pytest.approx(math.log2(6))
    assert order_bits(np.array([1, 2, 3, 4]), np.array([1, 1, 2, 2])) == pytest.approx(math.log2(6))
    assert order_bits(labels, np.array([1, 1, 1, 1])) == 0
