"""Spooky Author Identification, edition v2: rows are rescaled."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_rows_are_rescaled(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    tenths = answers.assign(EAP=0.1, HPL=0.1, MWS=0.1)
    trial_v1.refuses(tenths, "add up to 1")
    assert math.isclose(trial.grade(tenths), math.log(3))
    trial.refuses(answers.assign(EAP=0, HPL=0, MWS=0), "sum above 0")


def test_certain_and_wrong_is_clipped_as_on_kaggle(trial: Trial, answers: pd.DataFrame) -> None:
    wrong = answers.assign(EAP=answers["HPL"], HPL=answers["MWS"], MWS=answers["EAP"])
    assert math.isclose(trial.grade(wrong), -math.log(1e-15))
