"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_siim_covid19_detection import FULL, STUDIES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, hex_ids, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

SIDE = 64


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """An opacity is a bright box; the brightness of the whole image tells the appearance of its study."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(60, round(200 * size))
    studies = hex_ids(count, 12, seed=seed)
    files = iter(hex_ids(4 * count, 12, seed=seed + 5000))
    kinds = rng.permutation([number % 4 for number in range(count)])
    images: list[tuple[object, ...]] = []
    for study, kind in zip(studies, kinds, strict=True):
        boxes = _boxes(rng, 0 if kind == 0 else 1 + rng.randint(2))
        series = next(files)
        for number in range(1 + (rng.rand() < 0.15)):
            drawn = boxes if number == 0 else []
            if number and rng.rand() < 0.5:  # a second image may be a series of its own
                series = next(files)
            folder = raw / "train" / study / series
            folder.mkdir(parents=True, exist_ok=True)
            image = next(files)
            (folder / f"{image}.dcm").write_bytes(_picture(rng, kind, drawn))
            told = [dict(zip(("x", "y", "width", "height"), box, strict=True)) for box in drawn]
            corners = [(x, y, x + width, y + height) for x, y, width, height in drawn]
            label = " ".join("opacity 1 " + " ".join(f"{place:.5f}" for place in box) for box in corners)
            images.append((f"{image}_image", str(told) if told else None, label or f"none {FULL}", study))
    table = pd.DataFrame({"id": [f"{study}_study" for study in studies]})
    for place, name in enumerate(STUDIES):
        table[name] = (kinds == place).astype(int)
    write_csv(table, raw / "train_study_level.csv")
    columns = ["id", "boxes", "label", "StudyInstanceUID"]
    rows = pd.DataFrame(images, columns=columns)
    write_csv(rows.iloc[rng.permutation(len(rows))], raw / "train_image_level.csv")
    write_csv(pd.DataFrame({"id": [f"{next(files)}_study"], "PredictionString": FULL}), raw / "sample_submission.csv")
    other = raw / "test" / next(files) / next(files)  # Kaggle's own test set
    other.mkdir(parents=True)
    (other / f"{next(files)}.dcm").write_bytes(_picture(rng, 0, []))


def _boxes(rng: RandomState, count: int) -> list[tuple[float, ...]]:
    """x, y, width, height: one in each half of the image."""
    return [
        tuple(rng.uniform((2 + 32 * half, 4, 8, 12), (12 + 32 * half, 20, 18, 36)).round(5).tolist())
        for half in range(count)
    ]


def _picture(rng: RandomState, kind: int, boxes: list[tuple[float, ...]]) -> bytes:
    import numpy as np

    pixels = rng.randint(0, 40, (SIDE, SIDE)).astype(np.uint8) + np.uint8(30 * kind)
    for x, y, width, height in boxes:
        pixels[int(y) : int(y + height), int(x) : int(x + width)] += np.uint8(90)
    return dicom(pixels, modality="CR")
