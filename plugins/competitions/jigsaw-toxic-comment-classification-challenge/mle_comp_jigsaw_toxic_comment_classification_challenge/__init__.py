"""Toxic Comment Classification Challenge: how likely is each of six kinds of toxicity in a comment?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, ensure_disjoint, mean_roc_auc, numbers, read_table, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    write(raw, public, private)


def write(raw: Path, public: Path, private: Path, **options: Any) -> None:
    """No split: Kaggle's own test set was labelled later. ``options`` are those of ``read_table``."""
    train, test, labels, sample = (
        read_table(raw / f"{name}.csv.zip", member=f"{name}.csv", **options)
        for name in ("train", "test", "test_labels", "sample_submission")
    )
    write_csv(train, public / "train.csv")
    write_csv(test, public / "test.csv")
    write_csv(labels, private / "test.csv")
    write_csv(sample.with_columns(**dict.fromkeys(CLASSES, 0.5)), public / "sample_submission.csv")
    ensure(len(labels) == len(sample), "test_labels.csv and sample_submission.csv differ in length")
    for name, table in (("test.csv", test), ("sample_submission.csv", sample)):
        same = table["id"].equals(labels["id"]) or table["id"].sort().equals(labels["id"].sort())
        ensure(same, f"{name} and test_labels.csv differ in their ids")
    ensure_disjoint(train["id"], test["id"], "ids of train and test")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv", CLASSES)
    scored = (sum(truth[name].fillna(0) for name in CLASSES) >= 0).to_numpy()  # -1 throughout: not
    same = (predictions["id"].to_numpy() == truth["id"].to_numpy()).all() and truth["id"].is_unique
    predictions = predictions[scored if same else predictions["id"].isin(truth["id"][scored])]
    truth = truth[scored]
    if not truth[CLASSES].isin([0, 1]).all(axis=None):
        raise InvalidSubmission("the answers hold a row that is scored in some classes only: every submission fails")
    if len(predictions) != len(truth):
        raise InvalidSubmission(f"ids are repeated: {len(predictions):,} rows are scored, expected {len(truth):,}")
    # by place, not by name, as published
    return mean_roc_auc(truth[CLASSES], numbers(predictions, _classes(predictions), from_text=True))


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    warnings, found = [], _classes(predictions)
    if found != CLASSES:
        warnings.append(f"columns are scored by their place: {', '.join(found)} count as {', '.join(CLASSES)}")
    if predictions["id"].duplicated().any():
        warnings.append("ids are repeated: rows may be compared with the wrong ones, or refused")
    return warnings


def _classes(frame: DataFrame) -> list[str]:
    """The classes in the order of the file."""
    return [column for column in frame.columns if column != "id"]
