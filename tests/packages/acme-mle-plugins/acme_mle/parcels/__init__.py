"""Acme Parcels: how many days is a parcel on its way?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore.metrics import mae
from mlecore.prepare import read_csv, split, write_csv
from mlecore.submissions import aligned, generic_check, numbers
from mlecore.submissions.format import Format
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = {"id": "parcel", "columns": {"days": {"type": "number", "low": 0}}}


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "parcels.csv"), test_size=50)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="days"), public / "test.csv")
    write_csv(test[["parcel"]].assign(days=3.0), public / "sample.csv")
    (private / "answers.json").write_text(json.dumps(dict(zip(test["parcel"], test["days"], strict=True))))


@hookimpl
def check(submission: Table, sample: Table) -> Sequence[str]:
    warnings = generic_check(Format.parse(FORMAT), submission, sample)
    within_the_year(submission.frame())
    return warnings


@hookimpl
def grade(submission: Table, private: Path) -> float:
    truth, guess = aligned(submission, answers(private), on="parcel", columns=["days"])
    days = numbers(guess, "days", low=0)
    within_the_year(submission.frame())
    return mae(truth["days"], days)


@hookimpl
def perfect(private: Path) -> DataFrame:
    return answers(private)


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.RandomState(seed)
    count = max(200, round(400 * size))
    distance = rng.randint(10, 2000, count)
    days = np.round(1 + distance / 250 + rng.exponential(0.5, count), 2)
    table = pd.DataFrame({"parcel": [f"P{i:06}" for i in range(count)], "distance": distance, "days": days})
    write_csv(table, raw / "parcels.csv")


def answers(private: Path) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(json.loads((private / "answers.json").read_text()).items(), columns=["parcel", "days"])


def within_the_year(frame: DataFrame) -> None:
    """What the generic check has no word for: all parcels together, not one by one."""
    total = float(frame["days"].sum())
    if total > 365 * len(frame):
        raise InvalidSubmission(f"column 'days' adds up to {total:g}: no parcel is on its way for a year on average")
