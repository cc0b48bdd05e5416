"""Synthetic data in the form of the download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_new_york_city_taxi_fare_prediction import COUPONS, TEST_RIDES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The test part takes 9,914 rides, whatever the size; of the others there are 3,000 at size 1."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    write_csv(_rides(rng, TEST_RIDES + max(100, round(3000 * size))), raw / "train.csv")
    unlabelled = next(_rides(rng, 10)).drop(columns="fare_amount")
    write_csv(unlabelled, raw / "test.csv")
    write_csv(unlabelled[["key"]].assign(fare_amount=11.35), raw / "sample_submission.csv")
    (raw / COUPONS).write_bytes(b"{\\rtf1 How to use a coupon.}")


def _rides(rng: RandomState, rides: int) -> Iterator[DataFrame]:
    """Pieces of the training table; the fare follows the distance, with noise and some wild values."""
    import numpy as np
    import pandas as pd

    for start in range(0, rides, 50_000):
        n = min(50_000, rides - start)
        times = pd.to_datetime(1_230_768_000 + rng.randint(0, 200_000_000, n), unit="s").strftime("%Y-%m-%d %H:%M:%S")
        longitude, latitude = -73.98 + 0.03 * rng.normal(size=(2, n)), 40.75 + 0.03 * rng.normal(size=(2, n))
        distance = np.hypot(longitude[0] - longitude[1], latitude[0] - latitude[1])
        fare = (2.5 + 150 * distance + rng.normal(scale=1.5, size=n)).round(1)
        odd = rng.rand(n)
        fare = np.where(odd < 0.005, -fare, np.where(odd < 0.01, 0.0, np.where(odd < 0.3, fare.round(), fare)))
        table = pd.DataFrame({"key": [f"{time}.{start + i:08d}" for i, time in enumerate(times)], "fare_amount": fare})
        table["pickup_datetime"] = times + " UTC"
        for name, place in (("pickup", 0), ("dropoff", 1)):
            table[f"{name}_longitude"] = np.where(rng.rand(n) < 0.5, longitude[place].round(4), longitude[place])
            table[f"{name}_latitude"] = latitude[place].round(6)
        lost = rng.rand(n)
        table.loc[lost < 0.01, ["pickup_longitude", "pickup_latitude"]] = 0.0
        table.loc[(lost > 0.01) & (lost < 0.012), "pickup_longitude"] = 1e-05
        table.loc[lost > 0.99, ["dropoff_longitude", "dropoff_latitude"]] = None
        table["passenger_count"] = rng.randint(0, 7, n)
        yield table
