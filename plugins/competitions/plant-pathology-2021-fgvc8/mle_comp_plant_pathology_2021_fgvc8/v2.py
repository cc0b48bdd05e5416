"""Edition v2: the mean F1 of each photograph over the six classes, and no other words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, mean_f1, refuse_other_labels

if TYPE_CHECKING:
    from pandas import DataFrame

CLASSES = ("complex", "frog_eye_leaf_spot", "healthy", "powdery_mildew", "rust", "scab")
EXPECTED = f"classes out of {', '.join(CLASSES)}, separated by blanks"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    return mean_f1(truth["labels"].tolist(), predictions["labels"].tolist())


@hookimpl
def examine(predictions: DataFrame) -> None:
    refuse_other_labels(predictions, "labels", CLASSES, EXPECTED)
