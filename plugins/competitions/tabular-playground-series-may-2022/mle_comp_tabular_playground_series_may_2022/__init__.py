"""Tabular Playground Series, May 2022: is a simulated machine in state 0 or 1?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, RowStore, Table, read_table, roc_auc, split_positions, write_csv

if TYPE_CHECKING:
    from polars import DataFrame

TEST_ROWS = 100_000


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import polars as pl

    with RowStore([read_table(raw / "train.csv")], private) as rows:
        train_rows, test_rows = split_positions(len(rows), test_size=TEST_ROWS)
        write_csv(_numbered(rows.pieces(train_rows)), public / "train.csv")
        test = rows.take(test_rows).with_columns(id=pl.arange(len(train_rows), len(rows)))
    write_csv(test, private / "test.csv")
    write_csv(test.drop("target"), public / "test.csv")
    write_csv(test.select("id", "target"), private / "gold_submission.csv")
    write_csv(test.select("id", target=0.5), public / "sample_submission.csv")


def _numbered(pieces: Iterable[DataFrame]) -> Iterator[DataFrame]:
    import polars as pl

    start = 0
    for piece in pieces:
        yield piece.with_columns(id=pl.arange(start, start + len(piece)))
        start += len(piece)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["target"], predictions["target"])
