"""Paddy Doctor: which disease does a leaf of rice have?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    copy_file,
    ensure,
    ensure_columns,
    ensure_unique,
    link_files,
    read_answers,
    read_csv,
    split,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["image_id", "label", "variety", "age"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    ensure_columns(table, COLUMNS, "train.csv")
    asked = list(read_csv(raw / "sample_submission.csv").columns)
    ensure(set(asked) == set(COLUMNS[:2]), f"sample_submission.csv has the columns {', '.join(asked)}")
    ensure_unique(table["image_id"], "images of train.csv")
    train, test = split(table, train_size=0.75)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["image_id"]].assign(label=""), public / "sample_submission.csv")
    images = raw / "train_images"
    names = [f"{label}/{image}" for label, image in zip(train["label"], train["image_id"], strict=True)]
    link_files(images, public / "train_images", names)
    for label, image in zip(test["label"], test["image_id"], strict=True):
        copy_file(images / str(label) / image, public / "test_images" / image)  # a link may tell the label's folder


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "test.csv")
    if answers.isna().any(axis=None):
        raise InvalidSubmission("no submission can be graded: the answers have a missing cell")
    truth, predictions = format.read(submission, answers)
    examine(predictions)
    return accuracy(truth["label"].tolist(), predictions["label"].fillna("").tolist())


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    """Numbers or booleans throughout; with a missing cell among them they are merely wrong."""
    if predictions["label"].dtype != object and not predictions["label"].hasnans:
        raise InvalidSubmission("column 'label' must hold text, and is read as numbers or as true and false")
    missing = int(predictions["label"].isna().sum())
    return [f"column 'label' has missing labels, {missing} in all: allowed, but wrong"] if missing else []
