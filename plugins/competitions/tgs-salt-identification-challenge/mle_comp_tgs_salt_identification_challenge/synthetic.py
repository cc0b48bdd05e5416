"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, encode_mask, hex_ids, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

_SIDE = 101


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Salt is brighter than sediment; a third of the images have none, some nothing else."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(300 * size))
    ids = hex_ids(count + 8, 10, seed=seed)
    depths = pd.DataFrame({"id": ids, "z": rng.randint(50, 960, count + 8)})
    write_csv(depths.iloc[rng.permutation(count + 8)], raw / "depths.csv")
    masks = [_salt(rng, number) for number in range(count)]
    codes = [encode_mask(mask, "columns") for mask in masks]
    with ZipWriter(raw / "competition_data.zip") as archive:
        with archive.open("competition_data/train.csv") as member:
            write_csv(pd.DataFrame({"id": ids[:count], "rle_mask": codes}), member)
        for id, mask in zip(ids, masks, strict=False):
            pixels = (rng.randint(40, 110, mask.shape) + 100 * mask).astype("uint8")
            archive.add(f"competition_data/train/images/{id}.png", encode(pixels, "PNG"))
            archive.add(f"competition_data/train/masks/{id}.png", encode(mask * 255, "PNG"))


def _salt(rng: RandomState, number: int) -> NDArray[np.uint8]:
    """Nothing, everything, a half, or one or two slabs."""
    import numpy as np

    mask = np.zeros((_SIDE, _SIDE), dtype=np.uint8)
    if number % 10 == 4:
        mask[:] = 1
    elif number % 3:
        for _ in range(1 + rng.randint(2)):
            top, left = rng.randint(0, 70, 2)
            mask[top : top + rng.randint(5, 60), left : left + rng.randint(5, 60)] = 1
    return mask
