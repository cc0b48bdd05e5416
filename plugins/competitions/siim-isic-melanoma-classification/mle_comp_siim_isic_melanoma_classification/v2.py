"""Edition v2: split by patient; records of the test part do not hold the diagnosis."""

from __future__ import annotations

from pathlib import Path

import mle_comp_siim_isic_melanoma_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ensure_columns, ensure_unique, read_csv, split_whole_groups
from mlecore_toolkit.prepare.tfrecords import read_tfrecords, without, write_tfrecords

TEST_SHARE = 0.125  # of the images, as in v1
SEED = 2
SECRET = {"target", "diagnosis", "benign_malignant"}


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv", float_precision=None)
    ensure_columns(table, v1.COLUMNS, "train.csv")
    ensure_unique(table["image_name"], "images of train.csv")
    parts = split_whole_groups(table["patient_id"].tolist(), test_size=TEST_SHARE, seed=SEED)
    train, test = (table.iloc[part] for part in parts)
    v1.write_tables(raw, public, private, train, test)
    (public / "tfrecords").mkdir()
    images = {"train": set(train["image_name"]), "test": set(test["image_name"])}
    for number, file in enumerate(sorted((raw / "tfrecords").glob("train*.tfrec"))):
        for part, chosen in images.items():
            _write_shard(file, public / "tfrecords", f"{part}{number:02d}", chosen, SECRET if part == "test" else set())


def _write_shard(source: Path, folder: Path, name: str, images: set[str], secret: set[str]) -> None:
    """The records of these images, in the source's order; the file's name ends with their number, as Kaggle's do."""
    partial, count = folder / f"{name}.partial", 0
    with write_tfrecords(partial) as write:
        for image, message in read_tfrecords(source, "image_name"):
            if image in images:
                write(without(message, secret) if secret else message)
                count += 1
    if count:
        partial.rename(folder / f"{name}-{count}.tfrec")
    else:
        partial.unlink()
