"""Tabular Playground Series, December 2021: its split, and what counts as a class."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

FORESTS = mlecore.competition("tabular-playground-series-dec-2021")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("forests")
    FORESTS.make_raw(folder / "raw", size=0.1)
    FORESTS.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")[["Id", "Cover_Type"]]


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return FORESTS.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("tabular-playground-series-dec-2021")


def test_ids_are_carried_along(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(pd.read_csv(data / "raw" / "train.csv"), test_size=0.1, random_state=0)
    assert (data / "public" / "train.csv").read_text() == train.to_csv(index=False)
    assert (data / "private" / "test.csv").read_text() == test.to_csv(index=False)
    assert (data / "public" / "test.csv").read_text() == test.drop(columns="Cover_Type").to_csv(index=False)
    sample = (data / "public" / "sample_submission.csv").read_text()
    assert sample == test[["Id"]].assign(Cover_Type=2).to_csv(index=False)


def test_an_id_in_both_parts_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("Id,Cover_Type\n" + "1,2\n" * 20)
    with pytest.raises(DataError, match="Ids of train and test"):
        FORESTS.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 1
    floats = answers.astype(float).sample(frac=1, random_state=0).assign(note="x")
    assert grade(floats, data, tmp_path) == 1
    assert grade(answers.assign(Cover_Type=9), data, tmp_path) == 0
    assert grade(answers.assign(Cover_Type=2**63), data, tmp_path) == 0
    ones = (answers["Cover_Type"] == 1).mean()
    assert grade(answers.assign(Cover_Type=True), data, tmp_path) == ones


@pytest.mark.parametrize("value", [None, 2.5, "inf", 1e30, "pine", "True", "1_0", 2**64])
def test_classes_are_whole_numbers(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.astype({"Cover_Type": object})
    bad.loc[0, "Cover_Type"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'Cover_Type' must hold whole numbers"):
        grade(bad, data, tmp_path)


def test_ids_are_those_of_the_sample(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    text = answers.assign(Id=[f"n{i}" for i in answers["Id"]])
    repeated = answers.assign(Id=[answers["Id"][1], *answers["Id"][1:]])
    for bad in (text, repeated, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="Id")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
