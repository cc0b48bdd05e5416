"""Edition v2: predictions are probabilities, and the images of a breast agree."""

from __future__ import annotations

from pathlib import Path

import mle_comp_rsna_breast_cancer_detection as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, read_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    labels = read_csv(raw / "train.csv").groupby(["patient_id", "laterality"])["cancer"].nunique()
    ensure((labels == 1).all(), f"train.csv: {int((labels != 1).sum())} breasts have images that differ in `cancer`")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return v1.probabilistic_f1(truth["cancer"].to_numpy(), predictions["cancer"].to_numpy())
