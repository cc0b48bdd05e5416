"""New York City Taxi Fare Prediction: what does a ride cost?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import rmse
from mlecore.prepare import ensure, ensure_disjoint, link_file, read_csv, split_positions, write_csv
from mlecore.submissions import Format, Table

TEST_RIDES = 9914
PIECE = 200_000  # rides written at once: with the real 55 million, a second whole table would take gigabytes
COUPONS = "GCP-Coupons-Instructions.rtf"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import numpy as np
    import pandas as pd

    with pd.option_context("mode.copy_on_write", True):  # else pandas holds every column twice at the end of reading
        rides = read_csv(raw / "train.csv")
    ensure(rides.shape[1] == 8, f"train.csv has {rides.shape[1]} columns, expected 8")
    train_rows, test_rows = split_positions(len(rides), test_size=TEST_RIDES)
    test = rides.iloc[test_rows]
    suspects = np.setdiff1d(np.flatnonzero(rides["key"].isin(test["key"])), test_rows)
    ensure_disjoint(rides["key"].iloc[suspects], test["key"], "keys of train and test")
    pieces = (rides.iloc[train_rows[start : start + PIECE]] for start in range(0, len(train_rows), PIECE))
    write_csv(pieces, public / "labels.csv")
    write_csv(test.drop(columns="fare_amount"), public / "test.csv")
    write_csv(test[["key"]].assign(fare_amount=11.35), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    link_file(raw / COUPONS, public / COUPONS)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    # rows are paired once sorted; the keys themselves are not compared, as published
    truth, predictions = format.read(submission, private / "test.csv")
    return rmse(truth["fare_amount"], predictions["fare_amount"])
