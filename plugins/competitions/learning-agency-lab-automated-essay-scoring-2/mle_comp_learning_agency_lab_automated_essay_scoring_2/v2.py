"""Edition v2: kappa over the scores 1 to 6."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, quadratic_weighted_kappa


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return quadratic_weighted_kappa(truth["score"], predictions["score"], by_value=True)
