"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, split_positions, write_csv

LABELS = {
    0: "country::afghanistan",
    1: "country::égypte",
    2: "country::iran",
    782: "culture::american",
    448: "medium::silver",
    2429: "tags::flowers",
    3473: "tags::dragons",  # none in the test part
}


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(40, round(300 * size))
    ids = hex_ids(rows, 32, seed=seed)
    kinds = rng.randint(0, 4, rows)
    attributes = [[[0, 448], [1], [448, 782, 2429], [2429, 782]][kind] for kind in kinds]
    train, test = split_positions(rows, test_size=0.15)
    for position, kind in zip(test, (0, 1, 2), strict=False):
        kinds[position], attributes[position] = kind, [[0, 448], [1], [448, 782, 2429]][kind]
    for position in train[:3]:
        attributes[position] = [*attributes[position], 3473]
    table = pd.DataFrame({"id": ids, "attribute_ids": [" ".join(map(str, row)) for row in attributes]})
    write_csv(table, raw / "train.csv")
    labels = pd.DataFrame({"attribute_id": list(LABELS), "attribute_name": list(LABELS.values())})
    write_csv(labels, raw / "labels.csv")
    (raw / "train").mkdir()
    for id, kind in zip(ids, kinds, strict=True):
        (raw / "train" / f"{id}.png").write_bytes(encode(picture(rng, int(kind), 32, 40), "PNG"))
