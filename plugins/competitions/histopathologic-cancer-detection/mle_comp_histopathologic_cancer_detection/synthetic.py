"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labelled = max(40, round(300 * size))
    ids = hex_ids(labelled + labelled // 4, 40, seed=seed)
    labels = rng.permutation(np.arange(labelled) % 2)
    write_csv(pd.DataFrame({"id": ids[:labelled], "label": labels}), raw / "train_labels.csv")
    write_csv(pd.DataFrame({"id": ids[labelled:], "label": 0}), raw / "sample_submission.csv")
    for folder in ("train", "test"):
        (raw / folder).mkdir()
    for number, image in enumerate(ids):
        patch = rng.randint(60, 160, (96, 96, 3)).astype(np.uint8)
        label = labels[number] if number < labelled else number % 2
        patch[32:64, 32:64] = picture(rng, int(label))  # what is outside of the centre does not count
        folder = "train" if number < labelled else "test"
        (raw / folder / f"{image}.tif").write_bytes(encode(patch, "TIFF"))
