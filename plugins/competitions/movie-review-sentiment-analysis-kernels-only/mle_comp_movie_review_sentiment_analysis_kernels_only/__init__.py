"""Movie Review Sentiment Analysis: how positive is a phrase of a film review?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ZipWriter,
    accuracy,
    ensure_columns,
    ensure_disjoint,
    ensure_unique,
    read_csv,
    split,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["PhraseId", "SentenceId", "Phrase", "Sentiment"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.tsv.zip", member="train.tsv", float_precision=None, sep="\t")
    ensure_columns(table, COLUMNS, "train.tsv")
    write(public, private, *split(table, test_size=0.3))


def write(public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    for part in (train, test):
        ensure_unique(part["PhraseId"], "PhraseIds of train.tsv")
    ensure_disjoint(train["PhraseId"], test["PhraseId"], "PhraseIds of train and test")
    write_csv(test, private / "answers.csv")
    write_csv(test[["PhraseId"]].assign(Sentiment=2), public / "sampleSubmission.csv")
    for name, part in (("train.tsv", train), ("test.tsv", test.drop(columns="Sentiment"))):
        with ZipWriter(public / f"{name}.zip") as archive:
            archive.add(name, part.to_csv(index=False, sep="\t", lineterminator="\n").encode())


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["Sentiment"], predictions["Sentiment"])
