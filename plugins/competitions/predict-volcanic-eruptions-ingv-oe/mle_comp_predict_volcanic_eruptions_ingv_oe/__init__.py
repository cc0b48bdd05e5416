"""INGV, Volcanic Eruption Prediction: how long until the volcano erupts?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    ensure_disjoint,
    link_files,
    mae,
    read_csv,
    split,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

ID, TARGET = "segment_id", "time_to_eruption"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    ensure_columns(table, [ID, TARGET], "train.csv")
    train, test = split(table, test_size=0.1)
    ensure_disjoint(train[ID], test[ID], "segments of train and test")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(**{TARGET: 0}), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        count = link_files(raw / "train", public / folder, [f"{id}.csv" for id in part[ID]])
        ensure(count == len(part), f"{folder}: {len(part)} rows have {count} files")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    examine(predictions)
    return round(mae(truth[TARGET], predictions[TARGET]))


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    """An infinite mean has no nearest whole number. Beside predictions that sum up to one, no answer matters."""
    if math.isinf(mae([0.0] * len(predictions), predictions[TARGET])):
        raise InvalidSubmission(f"the predictions in {TARGET!r} are too large for their mean error to be finite")
    again = predictions[ID].duplicated().any()
    return ["some segments come more than once, and count as often"] if again else []
