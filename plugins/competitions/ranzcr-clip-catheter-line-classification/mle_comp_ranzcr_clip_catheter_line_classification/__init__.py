"""RANZCR CLiP: which catheters and lines does a chest X-ray show, and are they well placed?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_unique, link_files, mean_roc_auc, read_csv, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

ID = "StudyInstanceUID"
GRADED = [
    "ETT - Abnormal",
    "ETT - Borderline",
    "ETT - Normal",
    "NGT - Abnormal",
    "NGT - Borderline",
    "NGT - Incompletely Imaged",
    "NGT - Normal",
    "CVC - Abnormal",
    "CVC - Borderline",
]
LABELS = [*GRADED, "CVC - Normal", "Swan Ganz Catheter Present"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.1)
    write_parts(raw, public, private, train, test, GRADED)


def write_parts(
    raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame, asked: Sequence[str]
) -> None:
    """Tables and X-rays of both parts; ``asked`` are the labels of the sample submission."""
    annotations = read_csv(raw / "train_annotations.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(annotations[annotations[ID].isin(train[ID])], public / "train_annotations.csv")
    write_csv(test[[ID]].assign(**dict.fromkeys(asked, 0)), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        ensure_unique(part[ID], f"{ID} in the {folder} part")  # an X-ray a row in each folder
        link_files(raw / "train", public / folder, [f"{study}.jpg" for study in part[ID]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv", GRADED)
    return mean_roc_auc(truth[GRADED], predictions[GRADED])
