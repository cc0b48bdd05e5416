"""OSIC, edition v2: every patient and week, and no visit that is shown."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
COLUMNS = ["Patient_Week", "FVC", "Confidence"]


def test_no_row_may_be_left_out_or_repeated(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    visits = pd.read_csv(trial.private / "test.csv").dropna(subset=["FVC"]).sort_values("Weeks")
    last = visits.groupby("Patient").tail(1)["Patient_Week"]
    sure = perfect[perfect["Patient_Week"].isin(last)]
    assert trial_v1.grade(sure) == pytest.approx(-math.log(math.sqrt(2) * 70))
    trial.refuses(sure, "expected")
    trial.refuses(pd.concat([perfect, perfect.head(1)]), "repeated")


@pytest.mark.parametrize("column", ["FVC", "Confidence"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_are_finite(trial: Trial, perfect: pd.DataFrame, column: str, value: float) -> None:
    trial.refuses(perfect.assign(**{column: [value, *perfect[column][1:]]}), "finite numbers in every row")


def test_the_shown_visit_is_not_graded(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"Patient": "A", "Patient_Week": ["A_-2", "A_9", "A_10"], "FVC": [2000, 1900, 1800]})
    given = truth.assign(FVC=[0, 1900, 1800], Confidence=70)[COLUMNS]
    best = -math.log(math.sqrt(2) * 70)
    assert trial_v1.grade(given, truth) < best
    assert trial.grade(given, truth) == pytest.approx(best)


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        given = answers[["Patient_Week"]].assign(
            FVC=rng.uniform(500, 5000, len(answers)), Confidence=rng.uniform(-10, 400, len(answers))
        )
        said = given.set_index("Patient_Week")
        terms = []
        for _, visits in answers.dropna(subset=["FVC"]).groupby("Patient"):
            for row in visits.sort_values("Weeks").iloc[1:].tail(3).itertuples():
                guess = said.loc[row.Patient_Week]
                sigma, error = max(guess["Confidence"], 70), min(abs(row.FVC - guess["FVC"]), 1000)
                terms.append(-math.sqrt(2) * error / sigma - math.log(math.sqrt(2) * sigma))
        score = trial.competition.grade(given.sample(frac=1, random_state=1), trial.private)
        assert abs(score - math.fsum(terms) / len(terms)) < 1e-9
