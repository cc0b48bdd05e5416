"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_paddy_disease_classification import COLUMNS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture, write_csv

LABELS = ["blast", "normal", "hispa", "tungro"]
VARIETIES = ["ADT45", "IR20", "KarnatakaPonni"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = 4 * max(20, round(100 * size)) + 3  # no multiple of four, so that the shares are rounded
    table = pd.DataFrame(
        {
            "image_id": [f"{100000 + number}.jpg" for number in rng.permutation(20 * count)[:count]],
            "label": rng.choice(LABELS, count),
            "variety": rng.choice(VARIETIES, count),
            "age": rng.randint(45, 82, count),
        }
    )
    write_csv(table[COLUMNS], raw / "train.csv")
    for label in LABELS:
        (raw / "train_images" / label).mkdir(parents=True)
    for image, label in zip(table["image_id"], table["label"], strict=True):
        pixels = picture(rng, LABELS.index(label), 24, 32)
        (raw / "train_images" / label / image).write_bytes(encode(pixels, "JPEG"))
    (raw / "test_images").mkdir()  # Kaggle's own test set
    (raw / "test_images" / "200001.jpg").write_bytes(encode(pixels, "JPEG"))
    write_csv(pd.DataFrame({"image_id": ["200001.jpg"], "label": ""}), raw / "sample_submission.csv")
