"""Chatbot Arena: rows that add up to 1 once rounded."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)

CHANCES = ["winner_model_a", "winner_model_b", "winner_tie"]


def chances(answers: pd.DataFrame, *values: object) -> pd.DataFrame:
    return answers[["id"]].assign(**dict(zip(CHANCES, values, strict=True)))


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == pytest.approx(2.220446049250313e-16, rel=1e-6)
    assert trial.grade(chances(answers, *(answers[name] == 1 for name in CHANCES))) < 1e-15  # True and False
    assert math.isclose(trial.grade(chances(answers, 0.3333333, 0.3333333, 0.3333333)), -math.log(0.3333333))
    wrong = chances(answers, *(answers[name].to_numpy() for name in [*CHANCES[1:], CHANCES[0]]))
    assert trial.grade(wrong) == pytest.approx(36.0436, abs=1e-3)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((0.333333, 0.333333, 0.333333), "sums found: row 1: 0.999999"),
        ((True, 0.0, 0.0), "beside one of numbers"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, values: tuple[object, ...], reason: str) -> None:
    trial.refuses(chances(answers, *values), reason)
