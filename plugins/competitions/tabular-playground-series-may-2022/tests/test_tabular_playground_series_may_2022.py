"""Tabular Playground Series, May 2022: its fixed split, its new numbers, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

MACHINES = mlecore.competition("tabular-playground-series-may-2022")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("tabular-playground-series-may-2022", tmp_path_factory.mktemp("machines"), size=0.01)


def test_conformance() -> None:
    check_competition("tabular-playground-series-may-2022")


def test_split_and_new_numbers(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    raw = pd.read_csv(trial.raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(raw, test_size=100_000, random_state=0)
    train = train.assign(id=range(60))
    test = test.assign(id=range(60, 100_060))
    for name, table in (("public/train.csv", train), ("private/test.csv", test)):
        assert (trial.folder / name).read_text() == table.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == test.drop(columns="target").to_csv(index=False)
    assert (trial.private / "gold_submission.csv").read_text() == test[["id", "target"]].to_csv(index=False)


def test_too_few_rows_are_said(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,target\n1,0\n2,1\n")
    with pytest.raises(DataError, match="cannot split 2 items"):
        MACHINES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_grades(trial: Trial) -> None:
    gold = pd.read_csv(trial.private / "gold_submission.csv")
    assert trial.grade(gold) == 1.0
    assert trial.grade(gold.assign(target=0.5)) == 0.5
    assert trial.grade(gold.assign(id=gold["id"].astype(float))) == 1.0
    assert trial.grade(gold.sample(frac=1, random_state=1).assign(note="x")) == 1.0
    for value in (1.0001, float("inf"), None, "high"):
        bad = gold.astype({"target": object})
        bad.loc[0, "target"] = value
        with pytest.raises(mlecore.InvalidSubmission, match="'target' must hold numbers from 0 to 1"):
            trial.grade(bad)
    for bad in (gold.iloc[1:], gold.assign(id=[gold["id"].iloc[1], *gold["id"].iloc[1:]]), gold.drop(columns="id")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
