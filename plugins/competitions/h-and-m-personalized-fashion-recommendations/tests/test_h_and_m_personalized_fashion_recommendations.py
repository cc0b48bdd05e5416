"""H&M: lost zeros, and purchases without a date."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial


@pytest.fixture
def best(answers: pd.DataFrame) -> pd.DataFrame:
    """Every customer's articles, each once."""
    return answers.assign(prediction=[" ".join(dict.fromkeys(text.split())) for text in answers["prediction"]])


def test_scores(trial: Trial, answers: pd.DataFrame, best: pd.DataFrame) -> None:
    assert trial.grade(best) == 1
    assert trial.grade(answers) < 1  # repeats use up ranks
    zeros = best.assign(prediction=["0" + text.replace(" ", " 0") for text in best["prediction"]])
    assert trial.grade(zeros) == 0
    assert any("leading zero" in warning for warning in trial.check(zeros))
    behind = best.assign(prediction=[f" x {text}" for text in best["prediction"]])  # two parts before the first hit
    assert 1 / 3 <= trial.grade(behind) < 0.75
    far = best.assign(prediction=["x " * 12 + text for text in best["prediction"]])
    assert trial.grade(far) == 0


def test_a_column_of_single_numbers_loses_its_zeros(trial: Trial, best: pd.DataFrame) -> None:
    firsts = best["prediction"].str.split().str[0]
    expected = (1 / best["prediction"].str.split().str.len().clip(upper=12)).mean()
    assert math.isclose(trial.grade(best.assign(prediction="0" + firsts)), expected)
    gap = "0" + firsts
    gap[0] = ""
    assert trial.grade(best.assign(prediction=gap)) == 0  # with a gap they are read as decimals


def test_a_purchase_has_a_date(trial: Trial) -> None:
    raw = trial.raw_copy()
    with (raw / "transactions_train.csv").open("a") as file:
        file.write(",a,123,0.5,1\n")
    trial.refuses_raw(raw, "without a date")
