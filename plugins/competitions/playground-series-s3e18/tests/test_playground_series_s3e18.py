"""Playground Series S3E18: two of six classes are asked for, in any finite numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.3)


def test_other_columns_are_refused(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    answers.drop(columns="Chi1").to_csv(tmp_path / "train.csv", index=False)
    trial.refuses_raw(tmp_path, "37 columns; expected 38")


def test_the_mean_of_two_columns(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(EC3=7, EC2=0.5).sample(frac=1, random_state=1)) == 0.75
    assert trial.grade(answers.assign(EC1=-1e9 * answers["EC1"], EC2=0.5)) == 0.25
    assert trial.grade(answers.assign(EC1=answers["EC1"] == 1, id=answers["id"].astype(float))) == 1


def test_what_counts_as_a_number(trial: Trial, answers: pd.DataFrame) -> None:
    words = answers["EC2"].map({0: " 1_0 ", 1: "١١"})
    assert trial.grade(answers.assign(EC2=words)) == 1
