"""Tabular Playground Series, December 2021: its split, and what counts as a class."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

FORESTS = mlecore.competition("tabular-playground-series-dec-2021")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("tabular-playground-series-dec-2021", tmp_path_factory.mktemp("forests"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")[["Id", "Cover_Type"]]


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("tabular-playground-series-dec-2021")


def test_ids_are_carried_along(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(pd.read_csv(trial.raw / "train.csv"), test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_text() == train.to_csv(index=False)
    assert (trial.private / "test.csv").read_text() == test.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == test.drop(columns="Cover_Type").to_csv(index=False)
    sample = (trial.public / "sample_submission.csv").read_text()
    assert sample == test[["Id"]].assign(Cover_Type=2).to_csv(index=False)


def test_an_id_in_both_parts_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("Id,Cover_Type\n" + "1,2\n" * 20)
    with pytest.raises(DataError, match="Ids of train and test"):
        FORESTS.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    floats = answers.astype(float).sample(frac=1, random_state=0).assign(note="x")
    assert trial.grade(floats) == 1
    assert trial.grade(answers.assign(Cover_Type=9)) == 0
    assert trial.grade(answers.assign(Cover_Type=2**63)) == 0
    ones = (answers["Cover_Type"] == 1).mean()
    assert trial.grade(answers.assign(Cover_Type=True)) == ones


@pytest.mark.parametrize("value", [None, 2.5, "inf", 1e30, "pine", "True", "1_0", 2**64])
def test_classes_are_whole_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"Cover_Type": object})
    bad.loc[0, "Cover_Type"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'Cover_Type' must hold whole numbers"):
        trial.grade(bad)


def test_ids_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    text = answers.assign(Id=[f"n{i}" for i in answers["Id"]])
    repeated = answers.assign(Id=[answers["Id"][1], *answers["Id"][1:]])
    for bad in (text, repeated, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="Id")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
