"""Plant Pathology 2021: which diseases does an apple leaf have?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_disjoint,
    ensure_unique,
    link_files,
    micro_f1,
    read_csv,
    split,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    train, test = split(table, test_size=0.2)
    ensure_disjoint(train["image"], test["image"], "images of train.csv")
    ensure_unique(table["image"], "images of train.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.assign(labels="healthy"), public / "sample_submission.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, part["image"])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return micro_f1(truth["labels"].tolist(), predictions["labels"].tolist())
