"""OSIC, edition v2: every patient and week, and no visit that is shown."""

from __future__ import annotations

import math

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


def test_the_shown_visit_is_not_graded(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"Patient": "A", "Patient_Week": ["A_-2", "A_9", "A_10"], "FVC": [2000, 1900, 1800]})
    given = truth.assign(FVC=[0, 1900, 1800], Confidence=70)[COLUMNS]
    best = -math.log(math.sqrt(2) * 70)
    assert trial_v1.grade(given, truth) < best
    assert trial.grade(given, truth) == pytest.approx(best)
