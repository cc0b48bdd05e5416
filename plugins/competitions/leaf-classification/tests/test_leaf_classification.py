"""Leaf Classification: rows that add up to 1."""

from __future__ import annotations

import math

import pandas as pd

from mlecore_testing import Trial


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert len(sample.columns) == 100
    assert math.isclose(trial.grade(sample), math.log(99))
    assert trial.grade(answers.assign(Acer_Mono=1e-5)) < 1e-15  # within the tolerance; the synthetic data have none
    trial.refuses(answers.assign(Acer_Mono=1.2e-5), "add up to 1")
