"""OpenVaccine: how fast does an RNA molecule degrade at each base?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, new_file, numbers, read_answers, read_csv, rmse, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

ID = "id_seqpos"
TARGETS = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"]
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]
DIGITS = "%.10f"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    records = read_records(raw / "train.json")
    good = records[records["SN_filter"] > 0]
    count = test_size(records, good)
    in_test = records.index.isin(good.sample(n=count, random_state=0).index)
    write(raw, public, private, records[~in_test], records[in_test])


def test_size(records: DataFrame, good: DataFrame) -> int:
    """How many of the records are for testing, all of them ``good`` ones."""
    count = int(0.1 * len(records))
    ensure(0 < count <= len(good), f"train.json: {count} of {len(good)} records with SN_filter > 0 cannot be drawn")
    return count


def write(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    """All that prepared data hold."""
    test_columns = list(read_records(raw / "test.json").columns)
    ensure(not set(test_columns) & set(TARGETS), "test.json holds targets")
    answers = _positions(test)
    ensure(len(answers) == len(test) * test["seq_length"].iloc[0], "the test records differ in seq_length")
    sample = answers[[ID, *TARGETS]].assign(**dict.fromkeys(TARGETS, 0.0))
    columns = read_csv(raw / "sample_submission.csv", float_precision=None).columns
    ensure(set(columns) == set(sample.columns), f"sample_submission.csv has the columns {', '.join(columns)}")
    write_csv(answers, private / "test.csv", float_format=DIGITS)
    write_csv(sample, public / "sample_submission.csv", float_format=DIGITS)
    _write_records(train, public / "train.json")
    _write_records(test[test_columns], public / "test.json")


def read_records(path: Path) -> DataFrame:
    """One record a line; pandas guesses the types, which shows in what is written."""
    import pandas as pd

    try:
        return pd.read_json(path, lines=True)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except ValueError as error:
        raise DataError(f"{path} cannot be read as JSON lines: {error}") from None


def _write_records(records: DataFrame, path: Path) -> None:
    text = records.assign(index=range(len(records))).to_json(orient="records", lines=True)
    with new_file(path) as stream:
        stream.write(text.encode())


def _positions(records: DataFrame) -> DataFrame:
    """A row a position; those behind ``seq_scored`` could not be measured, and hold 0."""
    import numpy as np
    import pandas as pd

    for name in TARGETS:
        ensure((records[name].map(len) == records["seq_scored"]).all(), f"lists of {name} are not seq_scored long")
    ensure((records["seq_scored"] < records["seq_length"]).all(), "seq_scored is not below seq_length")
    keep = scored_positions(records)
    ids = [f"{id}_{j}" for id, length in zip(records["id"], records["seq_length"], strict=True) for j in range(length)]
    table = pd.DataFrame({ID: ids})
    for name in TARGETS:
        values = np.zeros(len(table))
        values[keep] = np.concatenate(records[name].to_list())
        table[name] = values
    return table.assign(keep=keep)


def scored_positions(records: DataFrame) -> NDArray[np.bool_]:
    """For each position of each record: is it among the first ``seq_scored``?"""
    import numpy as np

    pairs = zip(records["seq_length"], records["seq_scored"], strict=True)
    return np.concatenate([np.arange(length) < scored for length, scored in pairs])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "test.csv", [ID, *TARGETS, "keep"]))
    keep = truth["keep"].to_numpy(dtype=bool)
    return rmse(_selected(truth, keep), _selected(predictions, keep))


@hookimpl
def asked(sample: DataFrame, public: Path) -> DataFrame:
    """The lengths of the test records tell which rows are scored."""
    return sample.assign(keep=scored_positions(read_records(public / "test.json")))


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    _selected(predictions, asked["keep"].to_numpy(dtype=bool))


def _selected(table: DataFrame, keep: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The scored columns of the rows at the places ``keep`` of the file, sorted by id. Only these must hold numbers.

    The published grader sorts both tables and selects by the place in the file: in another order than the sample's,
    other rows are scored.
    """
    rows = table.sort_values(ID)
    return numbers(rows[keep[rows.index]], SCORED, from_text=True)
