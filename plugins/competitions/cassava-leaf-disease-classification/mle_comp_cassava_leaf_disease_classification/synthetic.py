"""Synthetic data in the form of the download: 16 files of records."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture, write_csv
from mlecore_toolkit.prepare.tfrecords import example, write_tfrecords

FILES = 16
SHARES = [0.05, 0.1, 0.11, 0.62, 0.12]  # of the five labels


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    each = max(12, round(24 * size))
    for folder in ("train_images", "train_tfrecords"):
        (raw / folder).mkdir()
    rows: list[tuple[str, int]] = []
    for file in range(FILES):
        count = each - (file == FILES - 1)
        with write_tfrecords(raw / "train_tfrecords" / f"ld_train{file:02}-{count}.tfrec") as write:
            for number in range(count):
                label = number if number < 5 else int(rng.choice(5, p=SHARES))
                name = f"{1_000_015_157 + len(rows) * 7919}.jpg"
                photograph = encode(picture(rng, label), "JPEG")
                (raw / "train_images" / name).write_bytes(photograph)
                write(example({"image": photograph, "image_name": name.encode(), "target": label}))
                rows.append((name, label))
    (raw / "train_tfrecords" / "README.txt").write_text("no records")
    table = pd.DataFrame([rows[place] for place in rng.permutation(len(rows))], columns=["image_id", "label"])
    write_csv(table, raw / "train.csv")
    diseases = ["Bacterial Blight (CBB)", "Brown Streak Disease (CBSD)", "Green Mottle (CGM)", "Mosaic Disease (CMD)"]
    names = {str(label): f"Cassava {disease}" for label, disease in enumerate(diseases)} | {"4": "Healthy"}
    (raw / "label_num_to_disease_map.json").write_text(json.dumps(names))
