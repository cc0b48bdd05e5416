"""Hotel-ID 2021: in which hotel was a photograph of a room taken?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_disjoint,
    ensure_unique,
    link_files,
    map_at_k,
    read_csv,
    split,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

TWICE = "ce27d36c9147cc19.jpg"  # listed in two chains


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = read_parts(raw)
    write(raw, public, private, train, test)
    link_files(raw / "train_images", public / "test_images", dict(zip(paths(test), test["image"], strict=True)))


def read_parts(raw: Path) -> tuple[DataFrame, DataFrame]:
    """The rows of train.csv for training, and those for testing."""
    table = read_csv(raw / "train.csv")
    train, test = split(table[table["image"] != TWICE], test_size=0.1)
    ensure_disjoint(train["image"], test["image"], "images of train.csv")
    ensure_unique(test["image"], "images of train.csv")
    return train, test


def write(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    """Tables, and the photographs for training."""
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    sample = test[["image"]].assign(hotel_id="36363 53586 18807 64314 60181")
    write_csv(sample, public / "sample_submission.csv")
    link_files(raw / "train_images", public / "train_images", paths(train))


def paths(part: DataFrame) -> list[str]:
    """Where the photographs are in train_images/."""
    return [f"{chain}/{image}" for chain, image in zip(part["chain"], part["image"], strict=True)]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    asked, given = (table["hotel_id"].astype(str).tolist() for table in (truth, predictions))
    return map_at_k(asked, given, 5, single=True)
