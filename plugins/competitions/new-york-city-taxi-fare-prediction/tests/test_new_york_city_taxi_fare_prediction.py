"""New York taxi: a fixed number of rides to judge, keys that only sort."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

TAXI = mlecore.competition("new-york-city-taxi-fare-prediction")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("taxi")
    TAXI.make_raw(folder / "raw", size=0.1)
    TAXI.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")[["key", "fare_amount"]]


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    """The score; checked as well, which must agree on what is valid."""
    path = tmp_path / "submission.csv"
    table.to_csv(path, index=False)
    try:
        TAXI.check(path, data / "public")
    except mlecore.InvalidSubmission:
        with pytest.raises(mlecore.InvalidSubmission):
            TAXI.grade(path, data / "private")
        raise
    return TAXI.grade(path, data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("new-york-city-taxi-fare-prediction")


def test_tables(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    rides = pd.read_csv(data / "raw" / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rides, test_size=9914, random_state=0)
    assert (data / "public" / "labels.csv").read_text() == train.to_csv(index=False)
    assert (data / "private" / "test.csv").read_text() == test.to_csv(index=False)
    assert (data / "public" / "test.csv").read_text() == test.drop(columns="fare_amount").to_csv(index=False)
    sample = (data / "public" / "sample_submission.csv").read_text()
    assert sample == test[["key"]].assign(fare_amount=11.35).to_csv(index=False)
    assert (data / "public" / "GCP-Coupons-Instructions.rtf").is_file()


def test_pieces_make_the_same_table(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mle_comp_new_york_city_taxi_fare_prediction.PIECE", 70)
    TAXI.prepare(data / "raw", tmp_path / "public", tmp_path / "private")
    assert (tmp_path / "public" / "labels.csv").read_bytes() == (data / "public" / "labels.csv").read_bytes()


def test_a_key_in_both_parts_is_said(data: Path, tmp_path: Path) -> None:
    rides = pd.read_csv(data / "raw" / "train.csv")
    judged = pd.read_csv(data / "private" / "test.csv")["key"]
    known = judged[0]
    rides.loc[rides.index[~rides["key"].isin(judged)][0], "key"] = known
    rides.to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(DataError, match=f"keys of train and test: 1 in both parts of the split, such as '{known}'"):
        TAXI.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_stand_in_has_the_corner_cases(data: Path) -> None:
    rides = pd.read_csv(data / "raw" / "train.csv")
    assert rides["key"].is_unique and rides["dropoff_latitude"].isna().any()
    assert (rides["fare_amount"] < 0).any() and (rides["fare_amount"] == 0).any()
    assert set(rides["passenger_count"]) == set(range(7))
    assert ",1e-05," in (data / "raw" / "train.csv").read_text()


@pytest.mark.parametrize(("columns", "rows", "words"), [(8, 100, "cannot split"), (7, 100, "expected 8")])
def test_odd_tables_are_said(tmp_path: Path, columns: int, rows: int, words: str) -> None:
    header = ["key", "fare_amount", *"abcdef"][:columns]
    lines = [",".join(header), *(",".join([f"k{i}", *"1" * (columns - 1)]) for i in range(rows))]
    (tmp_path / "train.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=words):
        TAXI.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 0
    assert grade(answers.sample(frac=1, random_state=0).assign(note="x"), data, tmp_path) == 0
    off = answers.assign(fare_amount=answers["fare_amount"] + 3)
    assert math.isclose(grade(off, data, tmp_path), 3)
    numbered = answers.sort_values("key").assign(key=range(len(answers)))  # keys only sort
    assert grade(numbered, data, tmp_path) == 0
    assert grade(answers.assign(fare_amount=1e200), data, tmp_path) == math.inf
    assert math.isfinite(grade(answers.assign(fare_amount=True), data, tmp_path))


@pytest.mark.parametrize("value", [None, "inf", "cheap", "1e400"])
def test_fares_are_finite_numbers(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.astype({"fare_amount": object})
    bad.loc[5, "fare_amount"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="fare_amount"):
        grade(bad, data, tmp_path)


def test_rows_and_columns(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    for bad in (answers.iloc[1:], answers.iloc[:0], answers.drop(columns="key"), answers.drop(columns="fare_amount")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
