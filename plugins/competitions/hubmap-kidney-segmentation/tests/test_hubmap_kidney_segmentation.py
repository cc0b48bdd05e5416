"""HuBMAP: fifteen images, types settled before rows are dropped, and odd masks."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial


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
    trial.refuses_raw(tmp_path, "14 rows")


def test_scores(trial: Trial, perfect: pd.DataFrame) -> None:
    assert trial.grade(perfect.assign(predicted=perfect["predicted"].where(perfect.index == 0))) == 1 / 3
    for cell in (" ", "5 ", "9999999 5"):  # empty masks all
        assert trial.grade(perfect.assign(predicted=[cell, *perfect["predicted"][1:]])) == pytest.approx(2 / 3)
    more = perfect.assign(predicted=perfect["predicted"] + " 9999999 5")
    assert math.isclose(trial.grade(more), 1)
