"""SETI Breakthrough Listen - E.T. Signal Search: does a radio snippet hold a simulated signal?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_disjoint,
    link_files,
    link_tree,
    read_csv,
    roc_auc,
    split,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train_labels.csv")
    train, test = split(table, test_size=0.1)
    ensure_disjoint(train["id"], test["id"], "ids of train_labels.csv")
    write_csv(train, public / "train_labels.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(target=0.5), public / "sample_submission.csv")
    for folder, part in (("train", train), ("test", test)):
        count = link_files(raw / "train", public / folder, (f"{id[0]}/{id}.npy" for id in part["id"]))
        ensure(count == len(part), f"{len(part)} {folder} rows, but {count} arrays")
    link_tree(raw / "old_leaky_data", public / "old_leaky_data")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["target"], predictions["target"])
