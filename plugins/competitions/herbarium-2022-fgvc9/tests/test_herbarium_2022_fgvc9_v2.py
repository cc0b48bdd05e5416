"""Herbarium 2022, edition v2: predictions are whole numbers."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_fractions_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    fractions = answers.assign(Predicted=answers["Predicted"] + 0.75)
    assert trial_v1.grade(fractions) == 1
    trial.refuses(fractions, "whole numbers")
