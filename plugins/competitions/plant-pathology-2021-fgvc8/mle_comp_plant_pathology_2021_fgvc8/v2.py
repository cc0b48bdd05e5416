"""Edition v2: the mean F1 of each photograph over the six classes, and no other words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_f1
from mlecore.submissions import Format, Table, generic_check, label_sets

CLASSES = ("complex", "frog_eye_leaf_spot", "healthy", "powdery_mildew", "rust", "scab")
EXPECTED = f"classes out of {', '.join(CLASSES)}, separated by blanks"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return mean_f1(map(str.split, truth["labels"]), label_sets(predictions, "labels", CLASSES, EXPECTED))


@hookimpl
def check(submission: Table, sample: Table, format: Format) -> Sequence[str]:
    warnings = generic_check(format, submission, sample)
    _, predictions = format.read(submission, sample.frame())
    label_sets(predictions, "labels", CLASSES, EXPECTED)
    return warnings
