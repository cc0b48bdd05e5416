"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, hex_ids, picture, split_positions, write_csv

KINDS = [0, 1, 13, 19]
PLACES = 12


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(120, round(400 * size))
    ids = [f"{id[:8]}-{id[8:12]}-11e8-a6a3-{id[12:]}" for id in hex_ids(rows, 24, seed=seed)]
    kinds = rng.randint(0, 4, rows)
    places = [place % PLACES for place in range(rows)]
    tested = split_positions(PLACES, test_size=0.1, seed=8)[1]
    table = pd.DataFrame(
        {
            "category_id": [KINDS[kind] for kind in kinds],
            "date_captured": [f"2011-05-{rng.randint(1, 29):02} 23:43:18" for _ in ids],
            "file_name": [f"{id}.jpg" for id in ids],
            "frame_num": [1 + number % 3 for number in range(rows)],
            "id": ids,
            "location": [20 + 7 * place for place in places],
            "rights_holder": "Justin Brown",
            "seq_id": [f"{ids[number - number % 3]}-q" for number in range(rows)],
            "seq_num_frames": 3,
            "width": 40,
            "height": 32,
        }
    )
    with ZipWriter(raw / "train_images.zip") as archive:
        for id, kind in zip(ids, kinds, strict=True):
            archive.add(f"{id}.jpg", encode(picture(rng, int(kind), 40, 32), "JPEG"))
    twice = [next(row for row, place in enumerate(places) if (place in tested) == test) for test in (False, True)]
    again = table.iloc[twice].assign(category_id=KINDS[1])  # a second animal in a picture
    write_csv(pd.concat([table[:40], again, table[40:]]), raw / "train.csv")
