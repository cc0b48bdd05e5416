"""Pawpularity: the shuffled order is kept, and the root of the mean square."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial
from pandas import DataFrame


def test_the_split_is_that_of_the_sheet(trial: Trial, answers: DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    assert answers["Id"].tolist() == raw["Id"].iloc[[28, 11, 10, 41, 2]].tolist()
    assert list(answers.columns) == list(raw.columns)
    test = pd.read_csv(trial.public / "test.csv")
    assert test.equals(answers.drop(columns="Pawpularity"))
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert sample["Pawpularity"].tolist() == [64.06, 27.71, 5.06, 2.64, 81.51]
    for id in answers["Id"]:
        assert (trial.public / "test" / f"{id}.jpg").read_bytes() == (trial.raw / "train" / f"{id}.jpg").read_bytes()


def test_the_score_is_the_root_of_the_mean_square(trial: Trial, answers: DataFrame) -> None:
    moved = answers["Pawpularity"] + answers["Pawpularity"].map(lambda score: 3 if score < 50 else -3)
    assert trial.grade(answers.assign(Pawpularity=moved)) == pytest.approx(3, abs=1e-12)


def test_a_column_of_true_counts_as_ones(trial: Trial, answers: DataFrame) -> None:
    assert trial.grade(answers.assign(Pawpularity=True)) == trial.grade(answers.assign(Pawpularity=1))
