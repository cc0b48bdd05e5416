"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_predict_volcanic_eruptions_ingv_oe import ID, TARGET
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

SENSORS = [f"sensor_{number}" for number in range(1, 11)]
READINGS = 50  # of a segment; 60,001 on Kaggle
LONGEST = 49_000_000  # until an eruption


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """150 segments times ``size``: the ground shakes the more, the nearer the eruption. Some sensors have gaps."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(30, round(150 * size))
    ids = rng.permutation(np.unique(rng.randint(10**6, 2 * 10**9, 2 * count)))[: count + 3]
    times = rng.randint(6_000, LONGEST, count)
    write_csv(pd.DataFrame({ID: ids[:count], TARGET: times}), raw / "train.csv")
    write_csv(pd.DataFrame({ID: ids[count:], TARGET: 0}), raw / "sample_submission.csv")
    for place, id in enumerate(ids):
        left = times[place] if place < count else rng.randint(6_000, LONGEST)
        shaking = 100 + 900 * (1 - left / LONGEST)
        values = np.rint(rng.normal(scale=shaking, size=(READINGS, len(SENSORS)))).clip(-32767, 32767)
        table = pd.DataFrame(values, columns=SENSORS)
        if place % 3 == 0:
            table.iloc[:, rng.randint(len(SENSORS))] = np.nan  # a sensor that is silent
        if place % 4 == 0:
            table.iloc[5:12, rng.randint(len(SENSORS))] = np.nan
        write_csv(table, raw / ("train" if place < count else "test") / f"{id}.csv")
