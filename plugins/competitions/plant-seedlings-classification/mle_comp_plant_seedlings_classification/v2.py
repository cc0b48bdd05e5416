"""Edition v2: every row names a species, which the ``[submission]`` table of the edition checks."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Micro-averaged F1 of single labels, which is accuracy."""
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["species"].tolist(), predictions["species"].tolist())
