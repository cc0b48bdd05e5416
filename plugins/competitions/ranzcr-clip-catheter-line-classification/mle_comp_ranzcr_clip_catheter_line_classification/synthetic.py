"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_ranzcr_clip_catheter_line_classification import ID, LABELS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture, split_positions, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(120, round(400 * size))
    studies = [f"1.2.826.0.1.3680043.8.498.{10**14 + number * 7919}{rng.randint(10**8)}" for number in range(rows + 4)]
    kinds = rng.randint(0, 4, rows + 4)  # of X-ray: the picture tells it, and each label is likelier for one kind
    table = pd.DataFrame({ID: studies[:rows]})
    for number, label in enumerate(LABELS):
        table[label] = (rng.rand(rows) < 0.25 + 0.45 * (kinds[:rows] == number % 4)).astype(int)
    table.loc[split_positions(rows, test_size=0.1)[1][:2], LABELS] = [[0] * 11, [1] * 11]  # both in the test part
    table["PatientID"] = [f"{number // 2:09x}" for number in range(rows)]
    write_csv(table, raw / "train.csv")
    write_csv(pd.DataFrame({ID: studies[rows:]}).assign(**dict.fromkeys(LABELS, 0)), raw / "sample_submission.csv")
    marks = [
        (study, LABELS[rng.randint(11)], str(rng.randint(0, 3000, (rng.randint(2, 6), 2)).tolist()))
        for study in table[ID]
        for _ in range(rng.randint(0, 3))
    ]
    write_csv(pd.DataFrame(marks, columns=[ID, "label", "data"]), raw / "train_annotations.csv")
    for folder in ("train", "test"):
        (raw / folder).mkdir()
    for number, (study, kind) in enumerate(zip(studies, kinds, strict=True)):
        xray = encode(picture(rng, int(kind)), "JPEG")
        (raw / ("train" if number < rows else "test") / f"{study}.jpg").write_bytes(xray)
