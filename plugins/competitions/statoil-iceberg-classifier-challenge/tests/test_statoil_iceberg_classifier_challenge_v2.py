"""Statoil, edition v2: the log loss is clipped as on Kaggle."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_certain_and_wrong_is_clipped_as_on_kaggle(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    wrong = answers.assign(is_iceberg=1 - answers["is_iceberg"])
    assert trial.grade(wrong) == pytest.approx(34.538776)
    assert trial_v1.grade(wrong) == pytest.approx(36.043653)
