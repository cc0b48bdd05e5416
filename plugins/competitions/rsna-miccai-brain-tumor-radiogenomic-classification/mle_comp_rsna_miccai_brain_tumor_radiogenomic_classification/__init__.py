"""RSNA-MICCAI Brain Tumor: is the MGMT promoter of a glioblastoma methylated, as MRI scans show it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_unique, link_tree, read_csv, roc_auc, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

CASE, TARGET = "BraTS21ID", "MGMT_value"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train_labels.csv", dtype={CASE: str, TARGET: int})
    ensure_unique(table[CASE], "cases of train_labels.csv")
    write_parts(raw, public, private, *split(table[[CASE, TARGET]], test_size=0.1))


def write_parts(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    """Tables and scans of both parts."""
    write_csv(train, public / "train_labels.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(**{TARGET: 0.5}), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        for case in part[CASE]:
            link_tree(raw / "train" / case, public / folder / case)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth[TARGET], predictions[TARGET])
