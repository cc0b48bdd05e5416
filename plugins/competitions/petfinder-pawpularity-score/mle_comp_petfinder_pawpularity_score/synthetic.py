"""Synthetic data in the form of the download: the colour of the disc and the metadata tell the score."""

from __future__ import annotations

from pathlib import Path

from mle_comp_petfinder_pawpularity_score import TARGET
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv

FEATURES = [
    "Subject Focus",
    "Eyes",
    "Face",
    "Near",
    "Action",
    "Accessory",
    "Group",
    "Collage",
    "Human",
    "Occlusion",
    "Info",
    "Blur",
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.RandomState(seed)
    rows = max(50, round(400 * size))
    metadata = rng.randint(0, 2, (rows, len(FEATURES)))
    level = metadata[:, 1] + metadata[:, 2]  # eyes and face
    scores = np.clip(np.rint(15 + 30 * level + rng.normal(0, 8, rows)), 1, 100).astype(int)
    scores[:2] = 1, 100
    table = pd.DataFrame(metadata, columns=FEATURES).assign(**{TARGET: scores})
    table.insert(0, "Id", hex_ids(rows, 32, seed=seed))
    write_csv(table, raw / "train.csv")
    (raw / "train").mkdir()
    for id, kind in zip(table["Id"], level, strict=True):
        (raw / "train" / f"{id}.jpg").write_bytes(encode(picture(rng, int(kind)), "JPEG"))
