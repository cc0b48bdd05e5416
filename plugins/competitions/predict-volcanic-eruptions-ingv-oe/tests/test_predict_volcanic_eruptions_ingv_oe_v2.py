"""Predict Volcanic Eruptions, edition v2: each segment counts once."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_repeated_segments_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    twice = pd.concat([answers, answers.head(1)])
    assert trial_v1.grade(twice) == 0
    trial.refuses(twice, "row")
    assert trial.grade(answers) == 0
