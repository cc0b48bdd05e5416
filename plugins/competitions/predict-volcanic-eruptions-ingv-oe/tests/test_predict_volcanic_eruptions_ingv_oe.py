"""Volcanic eruptions: scores are whole numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)

TARGET = "time_to_eruption"


@pytest.mark.parametrize(("off", "score"), [(1.5, 0), (4.5, 2), (4.6, 2), (7.5, 2), (7.6, 3)])
def test_scores_are_rounded_halves_to_even(trial: Trial, answers: pd.DataFrame, off: float, score: int) -> None:
    answers[TARGET] = answers[TARGET].astype(float)
    answers.loc[1, TARGET] += off
    assert trial.grade(answers.iloc[::-1]) == score
