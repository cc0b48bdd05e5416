"""Acme Parcels: how many days is a parcel on its way?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, mae, read_csv, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "parcels.csv"), test_size=50)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="days"), public / "test.csv")
    write_csv(test[["parcel"]].assign(days=3.0), public / "sample.csv")
    (private / "answers.json").write_text(json.dumps(dict(zip(test["parcel"], test["days"], strict=True))))


@hookimpl
def examine(predictions: DataFrame) -> None:
    """What the table has no word for: all parcels together, not one by one."""
    total = float(predictions["days"].sum())
    if total > 365 * len(predictions):
        raise InvalidSubmission(f"column 'days' adds up to {total:g}: no parcel is on its way for a year on average")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, answers(private))
    examine(predictions)
    return mae(truth["days"], predictions["days"])


@hookimpl
def perfect(private: Path) -> DataFrame:
    return answers(private)


def answers(private: Path) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(json.loads((private / "answers.json").read_text()).items(), columns=["parcel", "days"])
