"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture, write_csv

CATEGORIES = [1000010653, 1000000055, 1000016018, 1000004141, 7]  # the last one fits 32 bits


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import bson
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    products = max(160, round(300 * size))
    with (raw / "train.bson").open("wb") as file:
        id = 0
        for number in range(products):
            id += int(rng.randint(1, 4))
            kind = int(rng.randint(len(CATEGORIES)))
            pictures = [{"picture": encode(picture(rng, kind, 24, 24), "JPEG")} for _ in range(rng.randint(1, 5))]
            document = {"_id": id, "imgs": pictures, "category_id": CATEGORIES[kind]}
            if number % 50 == 3:  # a field of its own, and small numbers of 64 bits
                long = {"_id": bson.Int64(id), "category_id": bson.Int64(CATEGORIES[kind])}
                document = {"note": "é"} | document | long
            file.write(bson.encode(document))
    levels = {f"category_level{level}": [f"NIVEAU {level} É{kind}" for kind in range(5)] for level in (1, 2, 3)}
    write_csv(pd.DataFrame({"category_id": CATEGORIES, **levels}), raw / "category_names.csv")
