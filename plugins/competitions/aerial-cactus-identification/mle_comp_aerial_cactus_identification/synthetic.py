"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, hex_ids, picture, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labelled, unlabelled = max(60, round(500 * size)), 5
    ids = [f"{stem}.jpg" for stem in hex_ids(labelled + unlabelled, 32, seed=seed)]
    labels = rng.randint(0, 2, labelled)
    write_csv(pd.DataFrame({"id": ids[:labelled], "has_cactus": labels}), raw / "train.csv")
    write_csv(pd.DataFrame({"id": ids[labelled:], "has_cactus": 0.5}), raw / "sample_submission.csv")
    with ZipWriter(raw / "train.zip") as images:
        for image, label in zip(ids, labels, strict=False):
            images.add(f"train/{image}", encode(picture(rng, label), "JPEG"))
    with ZipWriter(raw / "test.zip") as images:
        for image in ids[labelled:]:
            images.add(f"test/{image}", encode(picture(rng, rng.randint(0, 2)), "JPEG"))
