"""New York taxi: a fixed number of rides to judge, keys that only sort."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

TAXI = mlecore.competition("new-york-city-taxi-fare-prediction")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("new-york-city-taxi-fare-prediction", tmp_path_factory.mktemp("taxi"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")[["key", "fare_amount"]]


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("new-york-city-taxi-fare-prediction")


def test_tables(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    rides = pd.read_csv(trial.raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rides, test_size=9914, random_state=0)
    assert (trial.public / "labels.csv").read_text() == train.to_csv(index=False)
    assert (trial.private / "test.csv").read_text() == test.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == test.drop(columns="fare_amount").to_csv(index=False)
    sample = (trial.public / "sample_submission.csv").read_text()
    assert sample == test[["key"]].assign(fare_amount=11.35).to_csv(index=False)
    assert (trial.public / "GCP-Coupons-Instructions.rtf").is_file()


def test_pieces_make_the_same_table(trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mle_comp_new_york_city_taxi_fare_prediction.PIECE", 70)
    TAXI.prepare(trial.raw, tmp_path / "public", tmp_path / "private")
    assert (tmp_path / "public" / "labels.csv").read_bytes() == (trial.public / "labels.csv").read_bytes()


def test_a_key_in_both_parts_is_said(trial: Trial, tmp_path: Path) -> None:
    rides = pd.read_csv(trial.raw / "train.csv")
    judged = pd.read_csv(trial.private / "test.csv")["key"]
    known = judged[0]
    rides.loc[rides.index[~rides["key"].isin(judged)][0], "key"] = known
    rides.to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(DataError, match=f"keys of train and test: 1 in both parts of the split, such as '{known}'"):
        TAXI.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_synthetic_data_has_the_corner_cases(trial: Trial) -> None:
    rides = pd.read_csv(trial.raw / "train.csv")
    assert rides["key"].is_unique and rides["dropoff_latitude"].isna().any()
    assert (rides["fare_amount"] < 0).any() and (rides["fare_amount"] == 0).any()
    assert set(rides["passenger_count"]) == set(range(7))
    assert ",1e-05," in (trial.raw / "train.csv").read_text()


@pytest.mark.parametrize(("columns", "rows", "words"), [(8, 100, "cannot split"), (7, 100, "expected 8")])
def test_odd_tables_are_said(tmp_path: Path, columns: int, rows: int, words: str) -> None:
    header = ["key", "fare_amount", *"abcdef"][:columns]
    lines = [",".join(header), *(",".join([f"k{i}", *"1" * (columns - 1)]) for i in range(rows))]
    (tmp_path / "train.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=words):
        TAXI.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 0
    assert trial.grade(answers.sample(frac=1, random_state=0).assign(note="x")) == 0
    off = answers.assign(fare_amount=answers["fare_amount"] + 3)
    assert math.isclose(trial.grade(off), 3)
    numbered = answers.sort_values("key").assign(key=range(len(answers)))  # keys only sort
    assert trial.grade(numbered) == 0
    assert trial.grade(answers.assign(fare_amount=1e200)) == math.inf
    assert math.isfinite(trial.grade(answers.assign(fare_amount=True)))


@pytest.mark.parametrize("value", [None, "inf", "cheap", "1e400"])
def test_fares_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"fare_amount": object})
    bad.loc[5, "fare_amount"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="fare_amount"):
        trial.grade(bad)


def test_rows_and_columns(trial: Trial, answers: pd.DataFrame) -> None:
    for bad in (answers.iloc[1:], answers.iloc[:0], answers.drop(columns="key"), answers.drop(columns="fare_amount")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
