"""OSIC: only the last three visits of a patient are graded."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial


@pytest.fixture
def graded(answers: pd.DataFrame) -> pd.DataFrame:
    visits = answers.dropna(subset=["FVC"]).sort_values("Weeks")
    return visits.groupby("Patient").tail(3).reset_index(drop=True)


def test_a_part_of_the_rows_is_enough(trial: Trial, answers: pd.DataFrame, graded: pd.DataFrame) -> None:
    best = -math.log(math.sqrt(2) * 100)
    assert trial.grade(graded.tail(1)) == pytest.approx(best)
    assert math.isnan(trial.grade(answers[~answers["Patient_Week"].isin(graded["Patient_Week"])].fillna({"FVC": 1})))
    assert math.isnan(trial.grade(graded.assign(FVC=None)))


def test_only_graded_visits_may_not_be_repeated(trial: Trial, answers: pd.DataFrame, graded: pd.DataFrame) -> None:
    rest = answers[~answers["Patient_Week"].isin(graded["Patient_Week"])]
    assert trial.grade(pd.concat([graded, rest, rest])) < 0
    trial.refuses(pd.concat([graded, graded.head(1)]), "repeat a Patient_Week")
    alone = graded.head(1)
    near = trial.grade(pd.concat([alone, alone.assign(FVC=alone["FVC"] + 100)]))
    assert near == pytest.approx(-math.sqrt(2) * 50 / 100 - math.log(math.sqrt(2) * 100))
