"""Chatbot Arena: JSON in cells, and rows that add up to 1 once rounded."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)

CHANCES = ["winner_model_a", "winner_model_b", "winner_tie"]


def chances(answers: pd.DataFrame, *values: object) -> pd.DataFrame:
    return answers[["id"]].assign(**dict(zip(CHANCES, values, strict=True)))


def test_conversations_are_whole_and_models_withheld(trial: Trial, answers: pd.DataFrame) -> None:
    test = pd.read_csv(trial.public / "test.csv")
    assert list(test.columns) == ["id", "prompt", "response_a", "response_b"]
    raw = pd.read_csv(trial.raw / "train.csv").set_index("id")
    assert test["response_a"].tolist() == raw.loc[test["id"], "response_a"].tolist()
    turns = [len(json.loads(cell)) for cell in test["prompt"]]
    assert turns == [len(json.loads(cell)) for cell in test["response_b"]] and max(turns) > 1
    assert not answers["id"].is_monotonic_increasing


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
        ((1.5, -0.5, 0), "numbers from 0 to 1"),
        ((True, 0.0, 0.0), "beside one of numbers"),
        ((None, 0.5, 0.5), "missing"),
        (("x", 0.5, 0.5), "'x'"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, values: tuple[object, ...], reason: str) -> None:
    with pytest.raises(InvalidSubmission, match=reason):
        trial.grade(chances(answers, *values))
