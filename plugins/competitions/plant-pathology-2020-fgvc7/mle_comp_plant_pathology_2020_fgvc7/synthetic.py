"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_plant_pathology_2020_fgvc7 import CLASSES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture, split_positions, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(100, round(400 * size))
    kinds = np.zeros(rows, dtype=int)
    for part in split_positions(rows, test_size=0.1):
        kinds[part] = rng.permutation(np.arange(len(part)) % 4)  # a quarter each, in the test part as well
    ids = [f"Train_{number}" for number in range(rows)]
    table = pd.DataFrame({"image_id": ids, **{name: (kinds == k).astype(int) for k, name in enumerate(CLASSES)}})
    write_csv(table, raw / "train.csv")
    unlabelled = [f"Test_{number}" for number in range(4)]
    write_csv(pd.DataFrame({"image_id": unlabelled}), raw / "test.csv")
    (raw / "images").mkdir()
    for image, kind in zip([*ids, *unlabelled], [*kinds, 0, 1, 2, 3], strict=True):
        (raw / "images" / f"{image}.jpg").write_bytes(encode(picture(rng, int(kind), 48, 32), "JPEG"))
