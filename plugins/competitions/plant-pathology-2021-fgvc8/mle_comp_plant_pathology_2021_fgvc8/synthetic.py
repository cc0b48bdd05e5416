"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, split_positions, write_csv

LABELS = [
    "scab",
    "frog_eye_leaf_spot",
    "rust",
    "powdery_mildew",
    "complex",
    "healthy",
    "scab frog_eye_leaf_spot",
    "scab frog_eye_leaf_spot complex",
    "frog_eye_leaf_spot complex",
    "rust frog_eye_leaf_spot",
    "rust complex",
    "powdery_mildew complex",
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(60, round(400 * size))
    kinds = np.zeros(rows, dtype=int)
    for part in split_positions(rows, test_size=0.2):
        kinds[part] = rng.permutation(np.arange(len(part)) % 12)  # each of the twelve, in the test part as well
    images = [f"{id}.jpg" for id in hex_ids(rows, 16, seed=seed)]
    write_csv(pd.DataFrame({"image": images, "labels": [LABELS[kind] for kind in kinds]}), raw / "train.csv")
    (raw / "train_images").mkdir()
    for image, kind in zip(images, kinds, strict=True):
        (raw / "train_images" / image).write_bytes(encode(picture(rng, int(kind), 48, 32), "JPEG"))
