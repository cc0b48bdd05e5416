"""Edition v2: labels are those of the task, also in the sample submission."""

from __future__ import annotations

from pathlib import Path

import mle_comp_paddy_disease_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, read_csv, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    sample = read_csv(public / "sample_submission.csv")
    (public / "sample_submission.csv").unlink()
    write_csv(sample.assign(label="normal"), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(truth["label"].tolist(), predictions["label"].tolist())
