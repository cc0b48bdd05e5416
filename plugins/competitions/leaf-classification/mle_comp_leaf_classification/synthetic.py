"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_leaf_classification import SPECIES
from mlecore.hookspecs import hookimpl
from mlecore.prepare import ZipWriter, encode, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Of eleven species only, so that even a small set has several leaves of each."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(60, round(300 * size))
    ids = np.sort(rng.permutation(2 * rows)[: rows + 10]) + 1  # with gaps
    kinds = rng.randint(0, 11, rows + 10)
    centres = rng.rand(11, 192)
    features = (0.05 * (centres[kinds] + 0.3 * rng.rand(rows + 10, 192))).round(6)
    columns = [f"{kind}{k}" for kind in ("margin", "shape", "texture") for k in range(1, 65)]
    table = pd.DataFrame(features, columns=columns)
    table.insert(0, "id", ids)
    table.insert(1, "species", [SPECIES[9 * kind] for kind in kinds])
    order = rng.permutation(rows + 10)
    train, test = table.iloc[order[:rows]], table.iloc[order[rows:]].drop(columns="species")
    sample = test[["id"]].assign(**dict.fromkeys(SPECIES, 1 / 99))
    for name, rows_ in (("train", train), ("test", test), ("sample_submission", sample)):
        with ZipWriter(raw / f"{name}.csv.zip") as archive, archive.open(f"{name}.csv") as member:
            write_csv(rows_, member)
    with ZipWriter(raw / "images.zip") as archive:  # of both
        for leaf, kind in zip(ids, kinds, strict=True):
            height, width = 40 + int(kind), 60 - int(kind)
            y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
            blade = (x**2 + y**2 * (1 + 0.2 * kind)) < 0.8
            archive.add(f"images/{leaf}.jpg", encode(np.where(blade, 255, 0).astype(np.uint8), "JPEG"))
