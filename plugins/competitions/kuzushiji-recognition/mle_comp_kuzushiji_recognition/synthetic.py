"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, split_positions, write_csv

_CODES = {"U+306E": "の", "U+306F": "は", "U+3057": "し", "U+304B": "か", "U+003F": "?"}


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A character is a dark box, whose shade tells which; a page of the train part has pictures only."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(30, round(150 * size))
    pages = [f"{100241706 + 7 * seed + number // 9}_{number:05d}_{1 + number % 2}" for number in range(count)]
    codes = list(_CODES)
    labels: list[str | None] = []
    with ZipWriter(raw / "train_images.zip") as images:
        for page in pages:
            picture = rng.randint(200, 250, (96, 64)).astype(np.uint8)
            boxes = []
            for slot in rng.permutation(12)[: rng.randint(1, 9)]:
                kind, width, height = rng.randint(0, len(codes)), rng.randint(2, 19), rng.randint(2, 22)
                x, y = 2 + 20 * (slot % 3), 1 + 24 * (slot // 3)
                picture[y : y + height, x : x + width] = 30 * kind
                boxes.append(f"{codes[kind]} {x} {y} {width} {height}")
            labels.append(" ".join(boxes))
            images.add(f"{page}.jpg", encode(picture, "JPEG"))
    labels[split_positions(count, 0.1)[0][2]] = None  # in the test part it would stop the preparation
    write_csv(pd.DataFrame({"image_id": pages, "labels": labels}), raw / "train.csv")
    write_csv(pd.DataFrame({"Unicode": codes, "char": list(_CODES.values())}), raw / "unicode_translation.csv")
    sample = pd.DataFrame({"image_id": ["test_00000001"], "labels": "U+003F 1 1 U+FF2F 2 2"})
    write_csv(sample, raw / "sample_submission.csv")
    with ZipWriter(raw / "test_images.zip") as images:
        images.add("test_00000001.jpg", encode(picture, "JPEG"))
