"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, picture, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    each = max(30, round(150 * size))
    with ZipWriter(raw / "train.zip") as photographs:
        for label, kind in enumerate(("cat", "dog")):
            for number in range(each):
                width, height = [(32, 32), (48, 32)][number % 2]
                photographs.add(f"train/{kind}.{number}.jpg", encode(picture(rng, label, width, height), "JPEG"))
    with ZipWriter(raw / "test.zip") as photographs:
        for number in range(1, 5):
            photographs.add(f"test/{number}.jpg", encode(picture(rng, number % 2), "JPEG"))
    write_csv(pd.DataFrame({"id": range(1, 5), "label": 0.5}), raw / "sample_submission.csv")
