"""Hindi and Tamil: sets of words, what counts as text, and answers with too few words."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_an_answer_na_is_missing_and_scores_0(trial: Trial, answers: pd.DataFrame) -> None:
    assert answers["PredictionString"].isna().sum() == 1
    filled = answers["PredictionString"].notna().mean()
    assert math.isclose(trial.grade(answers), filled)
    words = answers["PredictionString"].fillna("").str.lower().str.split().map(set).map(len)
    longer = answers.assign(PredictionString=answers["PredictionString"] + " x X")
    assert math.isclose(trial.grade(longer), (words / (words + 1)).mean())
    assert trial.grade(answers.assign(PredictionString=None)) == 0


def test_two_words_at_least(trial: Trial) -> None:
    head, truth = "id,PredictionString\n", "id,PredictionString\na,\nb,One\n"
    trial.refuses(head + "b,one\na,\n", "fewer than two words", truth)
    assert trial.grade(head + "b,one\na,two\n", truth) == 0.5
    trial.refuses(head + "b,one\na,two\n", "text", head + "a,1\nb,2\n")
