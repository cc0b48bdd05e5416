"""APTOS 2019, edition v2: kappa over the grades 0 to 4."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_an_absent_grade_does_not_shorten_distances(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"id_code": ["a", "b", "c"], "diagnosis": [0, 4, 1]})
    given = truth.assign(diagnosis=[0, 4, 4])
    assert trial_v1.grade(given, truth) != trial.grade(given, truth) == pytest.approx(40 / 67)  # 1 - 9 / (67 / 3)
