"""Tabular Playground Series, May 2022: is a simulated machine in state 0 or 1?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import read_table, split, write_csv
from mlecore.submissions import Format, Table

TEST_ROWS = 100_000


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import polars as pl

    train, test = split(read_table(raw / "train.csv"), test_size=TEST_ROWS)
    train = train.with_columns(id=pl.arange(len(train)))
    test = test.with_columns(id=pl.arange(len(train), len(train) + len(test)))
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop("target"), public / "test.csv")
    write_csv(test.select("id", "target"), private / "gold_submission.csv")
    write_csv(test.select("id", target=0.5), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["target"], predictions["target"])
