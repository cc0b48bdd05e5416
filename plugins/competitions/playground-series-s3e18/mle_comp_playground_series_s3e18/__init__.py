"""Playground Series S3E18: which enzymes does a substrate belong to?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, mean_roc_auc, read_csv, split, write_csv

CLASSES = [f"EC{number}" for number in range(1, 7)]
ASKED = CLASSES[:2]
COLUMNS = 38


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    ensure(table.shape[1] == COLUMNS, f"train.csv has {table.shape[1]} columns; expected {COLUMNS}")
    train, test = split(table, test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop(columns=CLASSES), public / "test.csv")
    write_csv(test[["id"]].assign(**dict.fromkeys(ASKED, 0.5)), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return mean_roc_auc(truth[ASKED], predictions[ASKED])
