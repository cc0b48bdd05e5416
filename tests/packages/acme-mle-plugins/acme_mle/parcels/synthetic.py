"""Synthetic parcels."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.RandomState(seed)
    count = max(200, round(400 * size))
    distance = rng.randint(10, 2000, count)
    days = np.round(1 + distance / 250 + rng.exponential(0.5, count), 2)
    table = pd.DataFrame({"parcel": [f"P{i:06}" for i in range(count)], "distance": distance, "days": days})
    write_csv(table, raw / "parcels.csv")
