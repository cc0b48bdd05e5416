"""Invasive Species Monitoring: does a photograph of a forest show the invasive hydrangea?"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ZipWriter,
    ensure_unique,
    extract,
    read_csv,
    roc_auc,
    split,
    write_7z,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

LABELS = "train_labels.csv"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = read_parts(raw)
    write(raw, public, private, train, test, {name: name for name in test["name"]})


def read_parts(raw: Path) -> tuple[DataFrame, DataFrame]:
    """The rows of the labels for training, and those for testing."""
    table = read_csv(raw / f"{LABELS}.zip", member=LABELS)[["name", "invasive"]]
    ensure_unique(table["name"], "names of train_labels.csv")
    return split(table, test_size=0.2)


def write(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame, tested: Mapping[int, int]) -> None:
    """Tables and archives; ``tested``: the photographs for testing, old name to new name."""
    sample = test.assign(invasive=0.5)
    write_csv(test, private / "answers.csv")
    write_csv(sample, private / "sample_submission.csv")
    for part, name in ((train, LABELS), (sample, "sample_submission.csv")):
        with ZipWriter(public / f"{name}.zip") as archive, archive.open(name) as stream:
            write_csv(part, stream)
    with tempfile.TemporaryDirectory(dir=private) as folder:
        images = [f"train/{name}.jpg" for name in [*train["name"], *tested]]
        extract(raw / "train.7z", Path(folder), dict(zip(images, images, strict=True)))
        trained = {name: name for name in train["name"]}
        for kept, name in ((trained, "train"), (tested, "test")):  # published empty, by a slip
            files = {f"{name}/{new}.jpg": Path(folder, f"train/{old}.jpg") for old, new in kept.items()}
            write_7z(public / f"{name}.7z", files, stored=True)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return roc_auc(truth["invasive"], predictions["invasive"])
