"""Volcanic eruptions: scores are whole numbers, and repeated segments count again."""

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


def test_repeated_segments_count_again(trial: Trial, answers: pd.DataFrame) -> None:
    answers.loc[0, TARGET] += 100
    assert trial.grade(answers) == 33
    twice = pd.concat([answers, answers.head(1)]).astype({"segment_id": float})
    assert trial.grade(twice) == 50
    assert any("more than once" in warning for warning in trial.check(twice))
    trial.refuses(pd.concat([answers.head(2), answers.head(1)]), "lacks 1 segment_id")


def test_what_counts_as_a_number(trial: Trial, answers: pd.DataFrame) -> None:
    truth = answers[TARGET].mean()
    assert trial.grade(answers.assign(**{TARGET: "1_0"})) == round(truth - 10)
    assert trial.grade(answers.assign(**{TARGET: True})) == round(truth - 1)
    trial.refuses(answers.assign(**{TARGET: 1.7e308}), "too large")
