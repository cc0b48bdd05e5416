"""Plant Pathology 2020: is an apple leaf healthy, or does it have rust, scab or several diseases?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    link_files,
    mean_roc_auc,
    read_csv,
    renumber,
    split,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    write_parts(raw, public, private, *split(read_leaves(raw), test_size=0.1))


def read_leaves(raw: Path) -> DataFrame:
    """The table of leaves. Raises DataError if it is not as expected."""
    table = read_csv(raw / "train.csv")
    ensure_columns(table, ["image_id", *CLASSES], "train.csv")
    ensure(table["image_id"].astype(str).str.startswith("Train_").all(), "an image_id does not start with Train_")
    return table


def write_parts(raw: Path, public: Path, private: Path, old_train: DataFrame, old_test: DataFrame) -> None:
    """Tables and photographs of both parts, whose leaves get new names in the order of their rows."""
    train, test = _renamed(old_train, "Train_"), _renamed(old_test, "Test_")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["image_id"]], public / "test.csv")
    write_csv(test.assign(**dict.fromkeys(CLASSES, 0.25)), public / "sample_submission.csv")
    for old, new in ((old_train, train), (old_test, test)):
        pairs = zip(old["image_id"], new["image_id"], strict=True)
        link_files(raw / "images", public / "images", {f"{before}.jpg": f"{after}.jpg" for before, after in pairs})


def _renamed(part: DataFrame, prefix: str) -> DataFrame:
    return part.assign(image_id=[f"{prefix}{number}" for number in renumber(part["image_id"])])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return mean_roc_auc(truth[CLASSES], predictions[CLASSES])
