"""iMet 2020: which attributes does a museum object have?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_disjoint,
    ensure_unique,
    link_file,
    link_files,
    micro_f1,
    read_csv,
    split,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    train, test = split(table, test_size=0.15)
    ensure_disjoint(train["id"], test["id"], "ids of train.csv")
    ensure_unique(table["id"], "ids of train.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.assign(attribute_ids="0 1 2"), public / "sample_submission.csv")
    link_file(raw / "labels.csv", public / "labels.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{id}.png" for id in part["id"]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return micro_f1(truth["attribute_ids"].tolist(), predictions["attribute_ids"].tolist())
