"""Google Brain, Ventilator Pressure Prediction: the pressure in a lung through a breath."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    ensure_disjoint,
    mae,
    numbers,
    read_answers,
    read_table,
    split_blocks,
    write_csv,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame

TYPES = {
    "id": "int32",
    "breath_id": "int32",
    "R": "int8",
    "C": "int8",
    "time_step": "float64",
    "u_in": "float64",
    "u_out": "int8",
    "pressure": "float64",
}
DIGITS = "%.10g"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_table(raw / "train.csv", dtype=TYPES)
    ensure_columns(table, list(TYPES), "train.csv")
    train, test = (_renumbered(part) for part in split_blocks(table, "breath_id", test_size=0.1))
    ensure(len(train) + len(test) == len(table), "train.csv has rows without a breath_id")
    ensure_disjoint(train["breath_id"].unique(), test["breath_id"].unique(), "breaths of train and test")
    write_csv(train, public / "train.csv", float_format=DIGITS)
    write_csv(test.drop("pressure"), public / "test.csv", float_format=DIGITS)
    write_csv(test.select("id", pressure=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv", float_format=DIGITS)


def _renumbered(part: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return part.with_columns(id=pl.arange(1, len(part) + 1))


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "test.csv", ["id", "u_out", "pressure"])
    truth, predictions = format.read(submission, answers)
    scored = truth["u_out"] == 0
    return mae(truth.loc[scored, "pressure"], _pressure(predictions[scored]))


@hookimpl
def asked(public: Path) -> DataFrame:
    return read_answers(public / "test.csv", ["id", "u_out"])


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    _pressure(predictions[asked["u_out"] == 0])


def _pressure(scored: DataFrame) -> NDArray[np.float64]:
    """Only rows that are scored must hold numbers."""
    return numbers(scored, "pressure", from_text=True)
