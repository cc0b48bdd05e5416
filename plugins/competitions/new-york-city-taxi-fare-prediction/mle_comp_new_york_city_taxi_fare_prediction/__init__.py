"""New York City Taxi Fare Prediction: what does a ride cost?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    RowStore,
    Table,
    ensure,
    ensure_disjoint,
    link_file,
    read_pieces,
    rmse,
    split_positions,
    write_csv,
)

if TYPE_CHECKING:
    from polars import DataFrame

TEST_RIDES = 9914
COUPONS = "GCP-Coupons-Instructions.rtf"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    with RowStore(read_pieces(raw / "train.csv"), private) as rides:
        ensure(len(rides.types) == 8, f"train.csv has {len(rides.types)} columns, expected 8")
        train_rows, test_rows = split_positions(len(rides), test_size=TEST_RIDES)
        test = rides.take(test_rows)

        def train() -> Iterator[DataFrame]:
            for piece in rides.pieces(train_rows):
                ensure_disjoint(piece["key"], test["key"], "keys of train and test")
                yield piece

        write_csv(train(), public / "labels.csv")
    write_csv(test.drop("fare_amount"), public / "test.csv")
    write_csv(test.select("key", fare_amount=11.35), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    link_file(raw / COUPONS, public / COUPONS)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    # rows are paired once sorted; the keys themselves are not compared, as published
    truth, predictions = format.read(submission, private / "test.csv")
    return rmse(truth["fare_amount"], predictions["fare_amount"])
