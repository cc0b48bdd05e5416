"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

BATCHES = 20
SENSORS = 343  # in a cube of 7 x 7 x 7; 5,160 on Kaggle
SPEED = 0.3  # metres a nanosecond


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """20 batches of 20 events times ``size``."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    places = np.stack(np.meshgrid(*[np.linspace(-450, 450, 7)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    places = (places + rng.normal(scale=10, size=places.shape)).round(2)
    geometry = pd.DataFrame(places, columns=["x", "y", "z"])
    geometry.insert(0, "sensor_id", np.arange(SENSORS))
    write_csv(geometry, raw / "sensor_geometry.csv")
    (raw / "train").mkdir()
    tables, last = [], 20
    for batch in range(1, BATCHES + 1):
        table, pulses = _batch(batch, last, max(4, round(20 * size)), places, rng)
        last = int(table["event_id"].iloc[-1])
        tables.append(table)
        pulses.set_index("event_id").to_parquet(raw / "train" / f"batch_{batch}.parquet", engine="fastparquet")
    meta = pd.concat(tables, ignore_index=True)
    meta.to_parquet(raw / "train_meta.parquet", index=False, engine="fastparquet")
    stub = meta.head(3)
    test = stub[["batch_id", "event_id", "first_pulse_index", "last_pulse_index"]]
    test.to_parquet(raw / "test_meta.parquet", index=False, engine="fastparquet")
    sample = stub[["event_id"]].assign(azimuth=1.0, zenith=1.0)
    sample.to_parquet(raw / "sample_submission.parquet", index=False, engine="fastparquet")


def _batch(
    batch: int, last: int, events: int, places: NDArray[np.float64], rng: RandomState
) -> tuple[DataFrame, DataFrame]:
    """Its events and its pulses: sensors near a neutrino's track light up one after the other, others at random."""
    import numpy as np
    import pandas as pd

    azimuth, zenith = rng.uniform(0, 2 * np.pi, events), np.arccos(rng.uniform(-1, 1, events))
    came_from = np.stack([np.cos(azimuth) * np.sin(zenith), np.sin(azimuth) * np.sin(zenith), np.cos(zenith)], axis=-1)
    ids = last + np.cumsum(rng.randint(1, 60, events))
    pulses = []
    for event in range(events):
        along = -(places @ came_from[event])  # metres flown when it passes the sensor
        off = np.sqrt(np.maximum((places**2).sum(axis=1) - along**2, 0))
        lit = np.flatnonzero((off < 150) | (rng.rand(len(places)) < 0.01))
        time = 10_000 + along[lit] / SPEED + rng.normal(scale=30, size=len(lit))
        order = np.argsort(time)
        pulses.append(
            pd.DataFrame(
                {
                    "event_id": ids[event],
                    "sensor_id": lit[order].astype(np.int16),
                    "time": time[order].astype(np.int64),
                    "charge": rng.gamma(4, 0.25, len(lit)).astype(np.float16).astype(np.float32),
                    "auxiliary": (off[lit] >= 150)[order],
                }
            )
        )
    ends = np.cumsum([len(table) for table in pulses])
    table = pd.DataFrame({"batch_id": batch, "event_id": ids})
    table["first_pulse_index"], table["last_pulse_index"] = np.r_[0, ends[:-1]], ends - 1
    table["azimuth"], table["zenith"] = azimuth, zenith
    return table, pd.concat(pulses, ignore_index=True)
