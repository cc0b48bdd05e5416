"""Patent phrases: what is NaN and yet valid."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial


@pytest.mark.parametrize("cell", [None, "inf"])
def test_one_bad_number_makes_the_score_undefined(trial: Trial, answers: pd.DataFrame, cell: object) -> None:
    bad = answers.astype({"score": object})
    bad.loc[3, "score"] = cell
    assert math.isnan(trial.grade(bad))
    assert math.isnan(trial.grade(answers.assign(score=2)))


def test_truth_values(trial: Trial, answers: pd.DataFrame) -> None:
    high = answers.assign(score=answers["score"] > 0.4)
    assert trial.grade(high) > 0.5
    gap = high["score"].astype(object).where(high.index != 2)
    trial.refuses(high.assign(score=gap), "True and False, and 1 missing")
