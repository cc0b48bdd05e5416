"""IceCube, Neutrinos in Deep Ice: where did each neutrino come from?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_icecube_neutrinos_in_deep_ice.meta import Meta, write_parquet
from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_file, link_files, split, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

ANGLES = ["azimuth", "zenith"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The table of 132 million events is read and written in parts, of which one is in memory."""
    import numpy as np
    import pandas as pd

    meta = Meta(raw / "train_meta.parquet")
    batch = meta.column("batch_id")
    train_batches, test_batches = split(pd.unique(batch), test_size=0.1)
    tested = np.isin(batch, test_batches)
    del batch

    test = meta.rows(tested)
    write_parquet([test.drop(columns=ANGLES)], public / "test_meta.parquet")
    write_csv(test[["event_id", *ANGLES]], private / "test.csv")
    write_csv(test[["event_id"]].assign(azimuth=1, zenith=1), public / "sample_submission.csv")
    without_test = partial(_without, np.sort(test["event_id"].to_numpy()))
    del test
    write_parquet(map(without_test, meta.parts(~tested)), public / "train_meta.parquet")

    link_file(raw / "sensor_geometry.csv", public / "sensor_geometry.csv")
    numbers = {path.name: int(path.stem.rpartition("_")[2]) for path in sorted((raw / "train").glob("*.parquet"))}
    for part, batches in (("train", set(train_batches.tolist())), ("test", set(test_batches.tolist()))):
        count = link_files(raw / "train", public / part, [name for name in numbers if numbers[name] in batches])
        ensure(count == len(batches), f"{part}: {len(batches)} batches and {count} files of them")


def _without(events: NDArray[np.int64], part: DataFrame) -> DataFrame:
    """The part, once it is certain that none of these events (ascending) is in it."""
    ids = part["event_id"].to_numpy()
    nearest = events[events.searchsorted(ids).clip(max=len(events) - 1)]
    ensure((nearest != ids).all(), "train_meta.parquet: an event is in a batch of train and in one of test")
    return part


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean angle between true and predicted directions, in radians."""
    import numpy as np

    truth, predictions = format.read(submission, private / "test.csv")
    examine(submission)
    (a, z), (b, y) = (table[ANGLES].to_numpy(np.float64).T for table in (truth, predictions))
    del truth, predictions
    cosine = np.sin(z) * np.sin(y) * (np.cos(a) * np.cos(b) + np.sin(a) * np.sin(b)) + np.cos(z) * np.cos(y)
    return float(np.abs(np.arccos(np.clip(cosine, -1, 1))).mean())


@hookimpl
def examine(submission: Table) -> None:
    """Here a column of True and False is no column of numbers."""
    frame = submission.frame()
    for name in ANGLES:
        if frame[name].dtype == bool:
            raise InvalidSubmission(f"column {name!r} must hold numbers; it holds True and False")
