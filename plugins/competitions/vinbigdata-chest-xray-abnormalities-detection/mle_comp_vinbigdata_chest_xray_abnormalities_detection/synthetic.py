"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_vinbigdata_chest_xray_abnormalities_detection import BOX, NO_FINDING
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, hex_ids, split_positions, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

NAMES = {
    0: "Aortic enlargement",
    3: "Cardiomegaly",
    7: "Lung Opacity",
    8: "Nodule/Mass",
    11: "Pleural thickening",
    13: "Pulmonary fibrosis",
    NO_FINDING: "No finding",
}
WIDTH, HEIGHT = 64, 80


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A finding is a bright box, whose shade tells the class; radiologists draw it a little differently."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(200 * size))
    ids = hex_ids(count, 32, seed=seed)
    healthy = rng.rand(count) < 0.35
    healthy[split_positions(count, 0.1)[1][:3]] = True, False, False  # both are in the test part
    findings = {image: [] if healthy[image] else _findings(rng) for image in range(count)}
    slots = pd.factorize(rng.permutation(np.repeat(np.arange(count), 3 + rng.randint(0, 4, count))))[0]
    rows: list[tuple[object, ...]] = []
    for image in slots.tolist():  # annotations of all images, mixed; images are numbered as they first appear
        doctor = f"R{1 + rng.randint(17)}"
        if healthy[image]:
            rows.append((ids[image], NAMES[NO_FINDING], NO_FINDING, doctor, *[None] * 4))
        else:
            kind, *box = findings[image][rng.randint(len(findings[image]))]
            rows.append((ids[image], NAMES[kind], kind, doctor, *(np.array(box) + rng.randint(-1, 2, 4)).astype(float)))
    write_csv(pd.DataFrame(rows, columns=["image_id", "class_name", "class_id", "rad_id", *BOX]), raw / "train.csv")
    (raw / "train").mkdir()
    for image, name in enumerate(ids):
        pixels = rng.randint(0, 60, (HEIGHT, WIDTH)).astype(np.uint16)
        for kind, x_min, y_min, x_max, y_max in findings[image]:
            pixels[y_min:y_max, x_min:x_max] += 200 + 60 * kind
        (raw / "train" / f"{name}.dicom").write_bytes(dicom(pixels, modality="CR"))
    sample = pd.DataFrame({"image_id": hex_ids(3, 32, seed=seed + 1000), "PredictionString": "14 1 0 0 1 1"})
    write_csv(sample, raw / "sample_submission.csv")  # Kaggle's own test set
    (raw / "test").mkdir()
    for name in sample["image_id"]:
        (raw / "test" / f"{name}.dicom").write_bytes(dicom(pixels, modality="CR"))


def _findings(rng: RandomState) -> list[tuple[int, int, int, int, int]]:
    """One to three boxes: class, x_min, y_min, x_max, y_max."""
    kinds = [kind for kind in NAMES if kind != NO_FINDING]
    out = []
    for _ in range(rng.randint(1, 4)):
        x, y = rng.randint(2, WIDTH - 20), rng.randint(2, HEIGHT - 24)
        out.append((kinds[rng.randint(len(kinds))], x, y, x + rng.randint(6, 16), y + rng.randint(6, 20)))
    return out
