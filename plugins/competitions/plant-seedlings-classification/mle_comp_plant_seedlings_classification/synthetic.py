"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv

SPECIES = ["Black-grass", "Charlock", "Maize", "Sugar beet"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(20, round(100 * size))  # of each species
    names = iter(hex_ids((count + 1) * len(SPECIES), 9, seed=seed))
    for number, species in enumerate(SPECIES):
        folder = raw / "train" / species
        folder.mkdir(parents=True)
        for _ in range(count):
            (folder / f"{next(names)}.png").write_bytes(encode(picture(rng, number), "PNG"))
    (raw / "train" / "Charlock" / "thumbnail.jpg").write_bytes(encode(picture(rng, 1), "JPEG"))  # what is no image
    (raw / "train" / "notes.png").write_bytes(encode(picture(rng, 1), "PNG"))
    (raw / "test").mkdir()  # Kaggle's own test set
    (raw / "test" / f"{next(names)}.png").write_bytes(encode(picture(rng, 2), "PNG"))
    sample = pd.DataFrame({"file": [path.name for path in (raw / "test").iterdir()], "species": "Sugar beet"})
    write_csv(sample, raw / "sample_submission.csv")
