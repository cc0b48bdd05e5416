"""Synthetic data in the form of the download."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, encode_mask, hex_ids, write_csv, write_json

if TYPE_CHECKING:
    from pandas import DataFrame

Outline = list[list[float]]

_OUTLINE: Outline = [[0, 0], [0, 9], [9, 9], [0, 0]]
_CORNERS = 32  # of a circle's outline


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Always 15 images, whose sides grow with ``size``; glomeruli are round and purple."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    ids = hex_ids(20, 9, seed=seed)
    side = 40 + round(100 * size**0.5)
    (raw / "train").mkdir()
    (raw / "test").mkdir()
    masks, rows = [], []
    for number, id in enumerate(ids):
        width, height = side + rng.randint(1, 40), side - rng.randint(1, 20)
        mask = np.zeros((height, width), dtype=bool)
        y, x = np.ogrid[:height, :width]
        outlines = []
        for _ in range(rng.randint(1, 4)):
            centre, radius = (rng.randint(width), rng.randint(height)), rng.randint(4, 15)
            mask |= (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius**2
            outlines.append(_circle(*centre, radius))
        mask[height - 2 :, 3:5] = mask[:2, 4] = True  # a run that goes on in the next column
        masks.append(encode_mask(mask, "columns"))
        pixels = np.where(mask[..., None], [120, 60, 140], [220, 190, 210]) + rng.randint(0, 30, (height, width, 3))
        folder = raw / ("train" if number < 15 else "test")
        (folder / f"{id}.tiff").write_bytes(encode(pixels.astype(np.uint8), "TIFF"))
        write_json([_feature("Cortex")], folder / f"{id}-anatomical-structure.json")
        if number < 15:
            write_json([_feature("glomerulus", outline) for outline in outlines], folder / f"{id}.json")
        age = np.nan if number == 17 else 30 + rng.randint(50)
        rows.append((id, width, height, number, age, round(rng.uniform(50, 120), 1)))
    table = pd.DataFrame({"id": ids[:15], "encoding": masks[:15]})
    write_csv(table, raw / "train.csv")
    write_csv(pd.DataFrame({"id": ids[15:], "predicted": ""}), raw / "sample_submission.csv")
    _information(rows).iloc[rng.permutation(20)].to_csv(
        raw / "HuBMAP-20-dataset_information.csv", index=False, lineterminator="\n"
    )


def _circle(x: int, y: int, radius: int) -> Outline:
    """Its corners, the first again at the end; they may be outside of the image, as those of the download."""
    turns = [2 * pi * corner / _CORNERS for corner in (*range(_CORNERS), 0)]
    return [[round(x + radius * cos(turn), 1), round(y + radius * sin(turn), 1)] for turn in turns]


def _feature(name: str, outline: Outline = _OUTLINE) -> dict[str, object]:
    return {
        "type": "Feature",
        "id": "PathAnnotationObject",
        "geometry": {"type": "Polygon", "coordinates": [outline]},
        "properties": {"classification": {"name": name, "colorRGB": -3140401}, "isLocked": True, "measurements": []},
    }


def _information(rows: list[tuple[str, int, int, int, float, float]]) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "image_file": f"{id}.tiff",
            "width_pixels": width,
            "height_pixels": height,
            "anatomical_structures_segmention_file": f"{id}-anatomical-structure.json",
            "glomerulus_segmentation_file": f"{id}.json",
            "patient_number": 60000 + number,
            "race": ["White", "Black or African American"][number % 2],
            "ethnicity": "Not Hispanic or Latino",
            "sex": ["Male", "Female"][number % 2],
            "age": age,
            "weight_kilograms": weight,
            "height_centimeters": 150 + number,
            "bmi_kg/m^2": round(weight / 2.9, 1),
            "laterality": ["Left", "Right"][number % 2],
            "percent_cortex": 55 + number,
            "percent_medulla": 45 - number,
        }
        for id, width, height, number, age, weight in rows
    )
