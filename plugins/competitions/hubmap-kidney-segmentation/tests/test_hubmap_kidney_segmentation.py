"""HuBMAP: fifteen images, types settled before rows are dropped, and odd masks."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


@pytest.fixture
def gold(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "gold_submission.csv")


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    information = pd.read_csv(trial.public / "HuBMAP-20-dataset_information.csv", dtype=str)
    assert len(information) == 15
    assert information["age"].str.endswith(".0").all()  # a gap in a row that was dropped
    assert list(answers.columns) == ["id", "encoding", "width_pixels", "height_pixels"]
    names = {f"{id}{kind}" for id in answers["id"] for kind in (".tiff", ".json", "-anatomical-structure.json")}
    assert {path.name for path in (trial.public / "test").iterdir()} == {*names, "sample_submission.csv"}


def test_other_than_fifteen_rows_are_refused(trial: Trial, tmp_path: Path) -> None:
    for path in trial.raw.glob("*.csv"):
        (tmp_path / path.name).write_text(path.read_text())
    pd.read_csv(trial.raw / "train.csv").head(14).to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(DataError, match="14 rows"):
        trial.competition.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, gold: pd.DataFrame) -> None:
    assert trial.grade(gold) == 1
    assert trial.grade(gold.assign(predicted=gold["predicted"].where(gold.index == 0))) == 1 / 3
    for cell in (" ", "5 ", "9999999 5"):  # empty masks all
        assert trial.grade(gold.assign(predicted=[cell, *gold["predicted"][1:]])) == pytest.approx(2 / 3)
    more = gold.assign(predicted=gold["predicted"] + " 9999999 5")
    assert math.isclose(trial.grade(more), 1)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [("1 3 3 2", "overlap"), ("9 1 2 1", "ascend"), ("0 2", "1 or more"), ("1 3 10 5 20", "odd"), ("1.5 2", "whole")],
)
def test_refused(trial: Trial, gold: pd.DataFrame, cell: str, reason: str) -> None:
    gold.loc[1, "predicted"] = cell
    with pytest.raises(InvalidSubmission, match=reason):
        trial.grade(gold)
