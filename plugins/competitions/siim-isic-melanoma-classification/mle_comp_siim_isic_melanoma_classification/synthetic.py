"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, encode, picture, write_csv
from mlecore_toolkit.prepare.tfrecords import example, write_tfrecords


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    files = ["train00-2071", "train01-2071", "train05-2071", "train06-2071", "train07-2071", "train15-2061"]
    rows = len(files) * max(25, round(60 * size))
    images = [f"ISIC_{number:07d}" for number in rng.permutation(10 * rows)[:rows]]
    targets = (rng.rand(rows) < 0.3).astype(int)
    table = pd.DataFrame({"image_name": images, "patient_id": [f"IP_{1000 + i // 3:07d}" for i in range(rows)]})
    table["sex"] = rng.choice(np.array(["male", "female", None]), rows, p=[0.5, 0.45, 0.05])
    table["age_approx"] = [None if rng.rand() < 0.05 else 5.0 * rng.randint(3, 18) for _ in range(rows)]
    table["anatom_site_general_challenge"] = rng.choice(np.array(["torso", "head/neck", "lower extremity", None]), rows)
    table["diagnosis"] = [["unknown", "melanoma"][target] for target in targets]
    table["benign_malignant"] = [["benign", "malignant"][target] for target in targets]
    table["target"] = targets
    write_csv(table, raw / "train.csv")
    for folder in ("train", "jpeg/train", "tfrecords"):
        (raw / folder).mkdir(parents=True)
    home = [files[i % len(files)] for i in range(rows)]
    for name in files:
        with write_tfrecords(raw / "tfrecords" / f"{name}.tfrec") as write:
            for image, target, file in zip(images, targets, home, strict=True):
                if file == name:
                    pixels = picture(rng, int(target))
                    jpeg = encode(pixels, "JPEG")
                    (raw / "jpeg" / "train" / f"{image}.jpg").write_bytes(jpeg)
                    (raw / "train" / f"{image}.dcm").write_bytes(dicom(pixels[:, :, 0]))
                    write(example({"image": jpeg, "image_name": image.encode(), "target": int(target)}))
    with write_tfrecords(raw / "tfrecords" / "test00-687.tfrec") as write:  # Kaggle's own test set
        write(example({"image": encode(picture(rng, 0), "JPEG"), "image_name": b"ISIC_9999999"}))
