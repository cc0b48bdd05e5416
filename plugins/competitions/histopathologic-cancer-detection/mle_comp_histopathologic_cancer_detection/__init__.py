"""Histopathologic Cancer Detection: does a patch of a lymph-node scan show metastatic cancer?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_unique, link_files, read_csv, roc_auc, split, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train_labels.csv", float_precision=None)[["id", "label"]]
    ensure_unique(table["id"], "ids of train_labels.csv")
    unlabelled = sum(1 for _ in (raw / "test").glob("*.tif"))  # Kaggle's test set only sets the ratio
    _, test_ids = split(table["id"], test_size=unlabelled / (len(table) + unlabelled))
    in_test = table["id"].isin(test_ids)
    train, test = table[~in_test], table[in_test]  # in file order, not in that of the split
    write_csv(train, public / "train_labels.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.assign(label=0), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.tif" for image in part["id"]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return roc_auc(truth["label"], predictions["label"])
