"""Edition v2: no log of the reference receiver in the test part; rows are paired by trip and time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_smartphone_decimeter_2022 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, read_answers, read_csv, refuse

if TYPE_CHECKING:
    from pandas import DataFrame

RECEIVER = "span_log.nmea"
KEY = [v1.TRIP, v1.TIME]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    for path in sorted((public / "test").rglob("*")):
        if path.name.lower() == RECEIVER:
            path.unlink()  # the link: the raw file stays
    repeated = int(read_csv(private / "test.csv")[KEY].duplicated().sum())
    ensure(not repeated, f"{repeated} times of test trips are repeated")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "test.csv", [*KEY, *v1.COORDINATES])
    truth, predictions = format.read(submission, answers)
    return v1.mean_of_trips(truth, _paired(truth, predictions))


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    _paired(asked, predictions)


def _paired(asked: DataFrame, given: DataFrame) -> DataFrame:
    """The rows of ``given`` beside those of ``asked`` with the same trip and time; there are as many."""
    from pandas import MultiIndex

    wanted, keys = (MultiIndex.from_arrays([table[v1.TRIP], table[v1.TIME].astype(float)]) for table in (asked, given))
    shown = given.assign(**{v1.TIME: [f"{time:.0f} of {trip}" for trip, time in keys]})
    refuse(shown, v1.TIME, "a time of the row's trip, as in the sample", wanted.get_indexer(keys) < 0)
    refuse(shown, v1.TIME, "each time of a trip once", keys.duplicated())
    return given.iloc[keys.get_indexer(wanted)].reset_index(drop=True)
