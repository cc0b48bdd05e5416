"""Playground Series S3E18, edition v2: predictions are probabilities."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_values_are_from_0_to_1(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    large = answers[["id"]].assign(EC1=answers["EC1"] * 2, EC2=answers["EC2"] * 2)
    assert trial_v1.grade(large) == 1
    trial.refuses(large, "from 0 to 1")
