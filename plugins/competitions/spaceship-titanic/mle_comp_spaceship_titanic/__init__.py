"""Spaceship Titanic: which passengers were transported to another dimension?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, read_csv, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    write(public, private, *split(read_csv(raw / "train.csv"), test_size=0.1))


def write(public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop(columns="Transported"), public / "test.csv")
    write_csv(test[["PassengerId"]].assign(Transported=False), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(truth["Transported"], predictions["Transported"])
