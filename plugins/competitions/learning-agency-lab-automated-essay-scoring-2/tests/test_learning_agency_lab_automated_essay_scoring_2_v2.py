"""Automated Essay Scoring 2.0, edition v2: kappa over the scores 1 to 6."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_an_absent_score_does_not_shorten_distances(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"essay_id": ["a", "b", "c"], "score": [1, 6, 2]})
    given = truth.assign(score=[1, 6, 6])
    assert trial_v1.grade(given, truth) != trial.grade(given, truth) == pytest.approx(5 / 9)  # 1 - 16 / (108 / 3)
