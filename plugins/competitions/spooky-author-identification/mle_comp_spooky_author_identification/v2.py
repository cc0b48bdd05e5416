"""Edition v2: rows are rescaled, columns go by their names, and probabilities are clipped as on Kaggle."""

from __future__ import annotations

from pathlib import Path

import mle_comp_spooky_author_identification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import KAGGLE_CLIP, Format, Table, log_loss


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return log_loss(truth[v1.AUTHORS], predictions[v1.AUTHORS], clip=KAGGLE_CLIP)
