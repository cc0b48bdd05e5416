"""Leaf Classification, edition v2: rows are rescaled."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_rows_are_rescaled(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    species = list(answers.columns[1:])
    ones = answers.assign(**dict.fromkeys(species, 1))
    trial_v1.refuses(ones, "add up to 1")
    assert math.isclose(trial.grade(ones), math.log(99))
    trial.refuses(answers.assign(**dict.fromkeys(species, 0)), "sum above 0")


def test_certain_and_wrong_is_clipped_as_on_kaggle(trial: Trial, answers: pd.DataFrame) -> None:
    wrong = pd.DataFrame(np.roll(answers.iloc[:, 1:], 1, axis=1), columns=answers.columns[1:])
    assert math.isclose(trial.grade(answers[["id"]].join(wrong)), -math.log(1e-15))
