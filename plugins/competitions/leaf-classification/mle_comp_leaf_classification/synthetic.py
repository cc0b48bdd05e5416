"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_leaf_classification import SPECIES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray


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
            archive.add(f"images/{leaf}.jpg", encode(_leaf(int(kind), rng), "JPEG"))


def _leaf(kind: int, rng: RandomState) -> NDArray[np.uint8]:
    """White on black: the species has a number of lobes and a breadth, each leaf of it an outline of its own."""
    import numpy as np

    y, x = np.mgrid[-1 : 1 : rng.randint(40, 60) * 1j, -1 : 1 : rng.randint(40, 60) * 1j]
    angle, radius = np.arctan2(y, x), np.hypot(x, y * (1 + 0.1 * kind))
    edge = 0.65 + 0.12 * np.cos((2 + kind) * angle + rng.uniform(0, 6.3))
    for waves in range(1, 9):
        edge += 0.06 * rng.normal() * np.cos(waves * angle + rng.uniform(0, 6.3))
    return np.where(radius < edge, 255, 0).astype(np.uint8)
