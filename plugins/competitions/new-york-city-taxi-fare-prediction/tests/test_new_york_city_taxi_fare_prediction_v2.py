"""New York City Taxi Fare Prediction, edition v2: keys are compared."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_foreign_keys_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    foreign = answers[["key", "fare_amount"]].assign(key=[f"{key}x" for key in answers["key"]])
    assert trial_v1.grade(foreign) == 0
    trial.refuses(foreign, "key")
