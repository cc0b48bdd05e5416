"""Synthetic data in the form of the download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_tabular_playground_series_may_2022 import TEST_ROWS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

FLOATS = [f"f_{i:02d}" for i in (*range(7), *range(19, 27), 28)]
INTEGERS = [f"f_{i:02d}" for i in (*range(7, 19), 29, 30)]
COLUMNS = ["id", *(f"f_{i:02d}" for i in range(31)), "target"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The test part takes 100,000 rows, whatever the size; of the others there are 2,000 at size 1."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    write_csv(_machines(rng, TEST_ROWS + max(60, round(2000 * size))), raw / "train.csv")
    unlabelled = next(_machines(rng, 10)).drop(columns="target")
    write_csv(unlabelled, raw / "test.csv")
    write_csv(unlabelled[["id"]].assign(target=0.5), raw / "sample_submission.csv")


def _machines(rng: RandomState, rows: int) -> Iterator[DataFrame]:
    """Pieces of the training table; the state hangs on two floats, an integer, and a letter of the text."""
    import numpy as np
    import pandas as pd

    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        floats = {name: rng.normal(size=n).round(1 + 5 * (i % 4)) for i, name in enumerate(FLOATS)}
        floats["f_28"] = rng.normal(scale=200, size=n)  # up to 17 digits
        letters = np.array(list("ABCDEFGHIJKLMNOPQRST"))[rng.randint(0, 20, (n, 10))]
        integers = {name: rng.randint(0, 15, n) for name in INTEGERS}
        likely = floats["f_00"] + floats["f_28"] / 200 + (integers["f_07"] - 7) / 5 + (letters[:, 0] > "J") - 0.5
        table = pd.DataFrame(
            {
                "id": (start + np.arange(n)) * 3 + 5,  # neither consecutive nor from 0: they are renumbered
                **floats,
                **integers,
                "f_27": ["".join(row) for row in letters],
                "target": (likely + rng.normal(size=n) > 0).astype(int),
            }
        )
        yield table[COLUMNS]
