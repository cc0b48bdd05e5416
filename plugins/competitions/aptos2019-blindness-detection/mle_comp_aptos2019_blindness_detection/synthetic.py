"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(200, round(400 * size))  # so that every grade occurs in the test part
    ids = hex_ids(rows + 3, 12, seed=seed)
    table = pd.DataFrame({"id_code": ids[:rows], "diagnosis": rng.choice(5, rows, p=[0.45, 0.15, 0.2, 0.1, 0.1])})
    write_csv(table, raw / "train.csv")
    write_csv(pd.DataFrame({"id_code": ids[rows:]}), raw / "test.csv")
    write_csv(pd.DataFrame({"id_code": ids[rows:], "diagnosis": 0}), raw / "sample_submission.csv")
    grades = [*table["diagnosis"], 0, 1, 2]
    for number, (image, grade_) in enumerate(zip(ids, grades, strict=True)):
        path = raw / ("train_images" if number < rows else "test_images") / f"{image}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encode(picture(rng, int(grade_), *[(32, 32), (48, 40)][number % 2]), "PNG"))
