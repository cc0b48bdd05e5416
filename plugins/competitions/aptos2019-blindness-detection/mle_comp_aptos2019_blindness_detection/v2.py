"""Edition v2: kappa over the grades 0 to 4."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, quadratic_weighted_kappa


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return quadratic_weighted_kappa(truth["diagnosis"], predictions["diagnosis"], by_value=True)
