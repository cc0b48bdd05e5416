"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_ventilator_pressure_prediction import TYPES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

STEPS = 8  # of a breath; 80 on Kaggle


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """300 breaths times ``size``; 2,500 gives as many rows as there really are."""
    table = _breaths(max(30, round(300 * size)), seed)
    write_csv(table, raw / "train.csv")
    few = table.head(5 * STEPS)
    write_csv(few.drop(columns="pressure"), raw / "test.csv")
    write_csv(few[["id"]].assign(pressure=0), raw / "sample_submission.csv")


def _breaths(count: int, seed: int) -> DataFrame:
    """Air streams in, more slowly the fuller the lung, until the outlet opens: pressure follows R, C and the flow."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    names = rng.choice(np.arange(1, 5 * count), count, replace=False)
    resistance = rng.choice([5, 20, 50], (count, 1))
    compliance = rng.choice([10, 20, 50], (count, 1))
    time = np.arange(STEPS) * 0.35 + 1e-3 * rng.rand(count, STEPS)
    time[:, 0] = 0.0
    out = np.tile((np.arange(STEPS) >= STEPS // 2).astype(int), (count, 1))
    flow = np.clip(rng.uniform(5, 60, (count, 1)) * np.exp(-time) + rng.normal(size=time.shape), 0, 100)
    flow[::7, 1] = 1e-09
    flow[out == 1] = np.round(flow[out == 1] / 20)
    volume = np.cumsum(flow * (1 - out), axis=1)
    pressure = (
        5 + (1 - out) * (0.004 * resistance * flow + volume / (2 * compliance)) + 0.1 * rng.normal(size=time.shape)
    )
    each = (np.arange(1, count * STEPS + 1), names, resistance, compliance, time, flow, out, pressure)
    shaped = [values.reshape(-1) if values.size == count * STEPS else np.repeat(values, STEPS) for values in each]
    table = pd.DataFrame(dict(zip(TYPES, shaped, strict=True)))
    # one breath is shorter, and another goes on at the end of the file
    order = np.delete(np.arange(len(table)), [STEPS - 1, 3 * STEPS - 1])
    table = table.iloc[[*order, 3 * STEPS - 1]]
    return table.assign(id=range(1, len(table) + 1))
