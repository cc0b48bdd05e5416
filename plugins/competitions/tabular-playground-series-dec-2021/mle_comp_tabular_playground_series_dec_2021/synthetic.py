"""Synthetic data in the form of the download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

MEASURED = {  # and the largest value here
    "Elevation": 3900,
    "Aspect": 360,
    "Slope": 60,
    "Horizontal_Distance_To_Hydrology": 1400,
    "Vertical_Distance_To_Hydrology": 600,
    "Horizontal_Distance_To_Roadways": 7000,
    "Hillshade_9am": 254,
    "Hillshade_Noon": 254,
    "Hillshade_3pm": 254,
    "Horizontal_Distance_To_Fire_Points": 7000,
}


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    from numpy.random import RandomState

    rng = RandomState(seed)
    write_csv(_forests(rng, max(20, round(3000 * size))), raw / "train.csv")
    unlabelled = next(_forests(rng, 5)).drop(columns="Cover_Type")
    write_csv(unlabelled, raw / "test.csv")
    write_csv(unlabelled[["Id"]].assign(Cover_Type=2), raw / "sample_submission.csv")


def _forests(rng: RandomState, rows: int) -> Iterator[DataFrame]:
    """Pieces of the training table; the cover hangs on elevation and wilderness area, and classes are unequal."""
    import numpy as np
    import pandas as pd

    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        table = {"Id": 7 + start + np.arange(n), **{name: rng.randint(0, top, n) for name, top in MEASURED.items()}}
        wilderness, soil = rng.randint(0, 4, n), rng.randint(0, 40, n)
        table |= {f"Wilderness_Area{k + 1}": (wilderness == k).astype(int) for k in range(4)}
        table |= {f"Soil_Type{k + 1}": (soil == k).astype(int) for k in range(40)}
        height = table["Elevation"] + 200 * wilderness + rng.normal(scale=150, size=n)
        table["Cover_Type"] = np.digitize(height, [200, 2600, 3400, 3500, 3550, 4300]) + 1
        yield pd.DataFrame(table)
