"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_hotel_id_2021_fgvc8 import TWICE
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv

CHAINS = [0, 3, 87]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(40, round(300 * size))
    kinds = rng.randint(0, 8, rows)
    kinds[0] = 8  # a hotel with one photograph
    images = [f"{id}.jpg" for id in hex_ids(rows, 16, seed=seed)]
    table = pd.DataFrame(
        {
            "image": images,
            "chain": [CHAINS[kind % 3] for kind in kinds],
            "hotel_id": [18807 + 977 * kind for kind in kinds],
            "timestamp": [f"20{rng.randint(14, 21)}-{rng.randint(1, 13):02}-11 20:02:03" for _ in images],
        }
    )
    twice = table.iloc[[1, 2]].assign(image=TWICE, chain=CHAINS[1:])
    write_csv(pd.concat([table[:9], twice[:1], table[9:20], twice[1:], table[20:]]), raw / "train.csv")
    for image, chain, kind in zip(images, table["chain"], kinds, strict=True):
        folder = raw / "train_images" / str(chain)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / image).write_bytes(encode(picture(rng, int(kind), 40, 32), "JPEG"))
