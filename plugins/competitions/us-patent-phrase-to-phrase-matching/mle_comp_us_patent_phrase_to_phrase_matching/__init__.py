"""U.S. Patent Phrase to Phrase Matching: how similar are two phrases in a technical field?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_table, split, write_csv

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_table(raw / "train.csv"), test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.select("id", "anchor", "target", "context"), public / "test.csv")
    write_csv(test.select("id", score=0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    examine(submission)
    if len(truth) < 2:
        raise InvalidSubmission("the answers have fewer than two rows, so no submission can be scored")
    return pearson(truth["score"], predictions["score"])


@hookimpl
def examine(submission: Table) -> None:
    """True and False count as 1 and 0, unless a cell is missing: then pandas reads objects."""
    if (scores := submission.columns(["score"])["score"]).dtype == object:
        gaps = int(scores.isna().sum())
        raise InvalidSubmission(f"column 'score' holds True and False, and {gaps} missing cells: write numbers")


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """sum(x * y) / (|x| * |y|), x and y less their means, cut to [-1, 1].

    As scipy's ``pearsonr``: each is divided by its largest deviation before it is squared, so that neither very small
    nor very large numbers are lost. NaN where one is constant, or holds a missing or infinite value.
    """
    import numpy as np

    units = []
    with np.errstate(all="ignore"):
        for values in (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)):
            if (values == values[0]).all():
                return float("nan")
            deviation = values - values.mean()
            scaled = deviation / np.abs(deviation).max()
            units.append(scaled / np.linalg.norm(scaled))
        return float(np.clip(units[0] @ units[1], -1, 1))
