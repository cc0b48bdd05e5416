"""Synthetic data in the form of the download: whales with many photographs, with one, and new ones."""

from __future__ import annotations

from pathlib import Path

from mle_comp_whale_categorization_playground import NEW
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv

COUNTS = [2, 3, 5, 12]  # photographs of a whale that has several


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    several = max(30, round(60 * size))
    single = max(40, round(80 * size))
    names = [f"w_{id}" for id in hex_ids(several + single, 7, seed=seed)]
    whales = [(name, kind) for kind in range(several) for name in [names[kind]] * COUNTS[kind % len(COUNTS)]]
    whales += [(name, several + 1) for name in names[several:]] + [(NEW, several)] * (several // 2)
    rows = [whales[place] for place in rng.permutation(len(whales))]
    images = [f"{id}.jpg" for id in hex_ids(len(rows), 8, seed=seed)]
    write_csv(pd.DataFrame({"Image": images, "Id": [name for name, _ in rows]}), raw / "train.csv")
    (raw / "train").mkdir()
    for image, (_, kind) in zip(images, rows, strict=True):
        (raw / "train" / image).write_bytes(encode(picture(rng, kind), "JPEG"))
