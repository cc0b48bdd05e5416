"""Synthetic data in the form of the download."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_invasive_species_monitoring import LABELS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, picture, split_positions, write_7z, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(60, round(400 * size))
    labels = rng.randint(0, 2, count)
    labels[split_positions(count, 0.2)[1][:4]] = 0, 1, 0, 1  # both classes are in the test part
    _zip(pd.DataFrame({"name": range(1, count + 1), "invasive": labels}), raw, LABELS)
    _zip(pd.DataFrame({"name": [1, 2], "invasive": 0.5}), raw, "sample_submission.csv")
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("train", labels), ("test", [0, 1])):  # test: Kaggle's own test set
            (Path(folder) / name).mkdir()
            paths = [f"{name}/{number}.jpg" for number in range(1, len(part) + 1)]
            for path, label in zip(paths, part, strict=True):
                Path(folder, path).write_bytes(encode(picture(rng, int(label), 40, 30), "JPEG"))
            write_7z(raw / f"{name}.7z", {path: Path(folder, path) for path in paths}, stored=True)


def _zip(table: DataFrame, raw: Path, name: str) -> None:
    with ZipWriter(raw / f"{name}.zip") as archive, archive.open(name) as stream:
        write_csv(table, stream)
