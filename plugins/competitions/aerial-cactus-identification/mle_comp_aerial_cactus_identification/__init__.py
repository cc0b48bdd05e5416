"""Aerial Cactus Identification: is there a columnar cactus in a 32x32 aerial photograph?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, move_members, open_zip, read_csv, roc_auc, split, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.19)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(has_cactus=0.5), public / "sample_submission.csv")
    with open_zip(raw / "train.zip") as images:
        for name, part in (("train.zip", train), ("test.zip", test)):
            move_members(images, public / name, {f"train/{image}": image for image in part["id"]})


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["has_cactus"], predictions["has_cactus"])
