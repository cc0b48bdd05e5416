"""Tabular Playground Series, May 2022: its fixed split, its new numbers, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

MACHINES = mlecore.competition("tabular-playground-series-may-2022")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("machines")
    MACHINES.make_raw(folder / "raw", size=0.01)
    MACHINES.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return MACHINES.grade(tmp_path / "submission.csv", data / "private")


def test_conformance() -> None:
    check_competition("tabular-playground-series-may-2022")


def test_split_and_new_numbers(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    raw = pd.read_csv(data / "raw" / "train.csv", float_precision="round_trip")
    train, test = train_test_split(raw, test_size=100_000, random_state=0)
    train = train.assign(id=range(60))
    test = test.assign(id=range(60, 100_060))
    for name, table in (("public/train.csv", train), ("private/test.csv", test)):
        assert (data / name).read_text() == table.to_csv(index=False)
    assert (data / "public" / "test.csv").read_text() == test.drop(columns="target").to_csv(index=False)
    assert (data / "private" / "gold_submission.csv").read_text() == test[["id", "target"]].to_csv(index=False)


def test_too_few_rows_are_said(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,target\n1,0\n2,1\n")
    with pytest.raises(DataError, match="cannot split 2 items"):
        MACHINES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_grades(data: Path, tmp_path: Path) -> None:
    gold = pd.read_csv(data / "private" / "gold_submission.csv")
    assert grade(gold, data, tmp_path) == 1.0
    assert grade(gold.assign(target=0.5), data, tmp_path) == 0.5
    assert grade(gold.assign(id=gold["id"].astype(float)), data, tmp_path) == 1.0
    assert grade(gold.sample(frac=1, random_state=1).assign(note="x"), data, tmp_path) == 1.0
    for value in (1.0001, float("inf"), None, "high"):
        bad = gold.astype({"target": object})
        bad.loc[0, "target"] = value
        with pytest.raises(mlecore.InvalidSubmission, match="'target' must hold numbers from 0 to 1"):
            grade(bad, data, tmp_path)
    for bad in (gold.iloc[1:], gold.assign(id=[gold["id"].iloc[1], *gold["id"].iloc[1:]]), gold.drop(columns="id")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
