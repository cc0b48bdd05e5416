"""Facebook Recruiting III, Keyword Extraction: the tags of questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore.metrics import micro_f1
from mlecore.prepare import read_pieces, rows_in_order, split_positions, write_csv
from mlecore.submissions import Format, Table, texts

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["Id", "Title", "Body", "Tags"]
GUESS = "javascript c# python php java"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The questions take more memory than there may be, so they are read in pieces, and wait on disk."""

    import numpy as np

    def questions(**options: Any) -> Iterator[DataFrame]:
        return read_pieces(raw / "Train.zip", member="Train.csv", dtype={"Id": str, "Tags": str}, **options)

    count = sum(len(piece) for piece in questions(usecols=["Id"]))
    train_rows, test_rows = split_positions(count, test_size=0.1)
    test: list[DataFrame] = []

    def train() -> Iterator[DataFrame]:
        """The test rows come first, and are put by."""
        left = len(test_rows)
        for piece in rows_in_order(questions(), np.concatenate([test_rows, train_rows]), private):
            if left:
                test.append(piece[:left])
            yield piece.loc[:, COLUMNS][left:]
            left -= min(left, len(piece))

    write_csv(train(), public / "train.csv")
    write_csv((piece[COLUMNS] for piece in test), private / "test.csv")
    write_csv((piece[COLUMNS[:3]] for piece in test), public / "test.csv")
    write_csv((piece[COLUMNS].assign(Tags=GUESS) for piece in test), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    right = texts(truth, "Tags", missing="")
    if not any(map(str.strip, right)):
        raise InvalidSubmission("the answers have no tags at all: every submission fails")
    return micro_f1(right, predictions["Tags"].tolist())
