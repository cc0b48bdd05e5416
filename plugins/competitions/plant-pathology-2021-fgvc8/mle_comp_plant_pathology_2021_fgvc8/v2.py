"""Edition v2: the mean F1 of each photograph over the six classes, and no other words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_f1
from mlecore.submissions import Format, Table, generic_check, refuse_other_labels

CLASSES = ("complex", "frog_eye_leaf_spot", "healthy", "powdery_mildew", "rust", "scab")
EXPECTED = f"classes out of {', '.join(CLASSES)}, separated by blanks"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    refuse_other_labels(predictions, "labels", CLASSES, EXPECTED)
    return mean_f1(truth["labels"].tolist(), predictions["labels"].tolist())


@hookimpl
def check(submission: Table, sample: Table, format: Format) -> Sequence[str]:
    warnings = generic_check(format, submission, sample)
    _, predictions = format.read(submission, sample.frame())
    refuse_other_labels(predictions, "labels", CLASSES, EXPECTED)
    return warnings
