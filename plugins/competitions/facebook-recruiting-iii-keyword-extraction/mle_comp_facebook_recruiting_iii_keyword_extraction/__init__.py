"""Facebook Recruiting III, Keyword Extraction: the tags of questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, RowStore, Table, micro_f1, read_pieces, split_positions, texts, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ["Id", "Title", "Body", "Tags"]
GUESS = "javascript c# python php java"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import polars as pl

    pieces = read_pieces(raw / "Train.zip", member="Train.csv", dtype={"Id": str, "Tags": str})
    with RowStore((piece.select(COLUMNS) for piece in pieces), private) as questions:
        train_rows, test_rows = split_positions(len(questions), test_size=0.1)
        write(questions, train_rows, test_rows, public, private)
        guesses = (piece.with_columns(Tags=pl.lit(GUESS)) for piece in questions.pieces(test_rows))
        write_csv(guesses, public / "sample_submission.csv")


def write(
    questions: RowStore, train_rows: NDArray[np.intp], test_rows: NDArray[np.intp], public: Path, private: Path
) -> None:
    write_csv(questions.pieces(train_rows), public / "train.csv")
    write_csv(questions.pieces(test_rows), private / "test.csv")
    write_csv((piece.drop("Tags") for piece in questions.pieces(test_rows)), public / "test.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    right = texts(truth, "Tags", missing="")
    if not any(map(str.strip, right)):
        raise InvalidSubmission("the answers have no tags at all: every submission fails")
    return micro_f1(right, predictions["Tags"].tolist())
