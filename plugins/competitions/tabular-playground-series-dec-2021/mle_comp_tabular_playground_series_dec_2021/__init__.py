"""Tabular Playground Series, December 2021: which of seven types of forest grows there?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, ensure_disjoint, read_table, split, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_table(raw / "train.csv"), test_size=0.1)
    ensure_disjoint(train["Id"], test["Id"], "Ids of train and test")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop("Cover_Type"), public / "test.csv")
    write_csv(test.select("Id", Cover_Type=2), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(truth["Cover_Type"], predictions["Cover_Type"])
