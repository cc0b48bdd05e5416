"""iWildCam 2019: which animal is in a camera trap's picture?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_disjoint,
    macro_f1,
    move_members,
    open_zip,
    read_csv,
    split_groups,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = read_parts(raw)
    write_csv(test, private / "test.csv")
    answers = test[["id", "category_id"]].set_axis(["Id", "Category"], axis=1)
    write_csv(answers, private / "answers.csv")
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="category_id"), public / "test.csv")
    sample = answers.assign(Category=0)
    sample.insert(0, "", sample.index)  # published so
    write_csv(sample, public / "sample_submission.csv")
    with open_zip(raw / "train_images.zip") as images:
        for part, name in ((train, "train_images.zip"), (test, "test_images.zip")):
            move_members(images, public / name, {f"{id}.jpg": f"{id}.jpg" for id in part["id"]})


def read_parts(raw: Path) -> tuple[DataFrame, DataFrame]:
    """The rows of train.csv at the places for training, and of those for testing."""
    table = read_csv(raw / "train.csv")
    train, test = split_groups(table, "location", test_size=0.1, seed=8)
    ensure_disjoint(train["id"], test["id"], "ids of train.csv")
    with open_zip(raw / "train_images.zip") as images:
        pictures = sum(name.endswith(".jpg") for name in images.namelist())
    ids = table["id"].nunique()
    ensure(pictures == ids, f"train_images.zip has {pictures} pictures, train.csv {ids} ids")
    return train, test


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return macro_f1(truth["Category"], predictions["Category"])
