"""Columns that tell the answers nearly perfectly are found; good inputs are not taken for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from mlecore_audit.match import match

DICE = np.random.default_rng(0)
ROWS = 400
CODES = DICE.integers(0, 3, ROWS)
QUANTITY = DICE.normal(size=ROWS)
NOISE = DICE.normal(size=ROWS)


def texts(values: NDArray[np.generic]) -> pd.Series[str]:
    return pd.Series(values.astype(str))


@pytest.mark.parametrize(
    ("truth", "column", "degree"),
    [
        (CODES > 0, (CODES > 0) + 0.15 * NOISE, "an AUROC of 1.0"),
        (CODES > 0, np.where(CODES > 0, "", DICE.integers(0, 9, ROWS)), ""),  # filled in for one class alone
        (CODES, (CODES == 1) * 9 + CODES + 0.3 * NOISE, "an AUROC of each class of at least"),
        (CODES, np.char.add(CODES.astype(str), DICE.choice(list("vwxyz"), ROWS)), "an AUROC of each class"),
        (QUANTITY, -QUANTITY + 0.05 * NOISE, "a rank correlation of -0.99"),
    ],
)
def test_told(truth: NDArray[np.generic], column: NDArray[np.generic], degree: str) -> None:
    found = match(texts(truth), texts(column), 100)
    assert found is not None and found.degree.startswith(degree)


@pytest.mark.parametrize(
    ("truth", "column"),
    [
        (CODES > 0, (CODES > 0) + 0.5 * NOISE),
        (CODES, CODES + 0.5 * NOISE),
        (CODES == 1, np.char.add("p", np.arange(ROWS).astype(str))),
        (QUANTITY, QUANTITY + 0.3 * NOISE),
        (CODES[:15] > 0, (CODES[:15] > 0) + 0.1 * NOISE[:15]),  # of few rows, chance does it
    ],
)
def test_not_told(truth: NDArray[np.generic], column: NDArray[np.generic]) -> None:
    assert match(texts(truth), texts(column), 100) is None


def test_the_inputs_of_flowers_are_no_leak() -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    flowers = sklearn.load_iris()
    for column in flowers.data.T:
        assert match(texts(flowers.target), texts(column), 1) is None
