"""Edition v2: probabilities are clipped as on Kaggle."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import KAGGLE_CLIP, Format, Table, log_loss


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return log_loss(truth["is_iceberg"], predictions["is_iceberg"], clip=KAGGLE_CLIP)
