"""Pawpularity, edition v2: any finite number is scored."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_numbers_out_of_the_targets_range_are_scored(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    far = answers.assign(Pawpularity=[*answers["Pawpularity"][:-1], 200.5])
    trial_v1.refuses(far, "from 1 to 100")
    off = 200.5 - answers["Pawpularity"].iloc[-1]
    assert trial.grade(far) == pytest.approx(off / math.sqrt(len(answers)))
    trial.refuses(far.replace(200.5, math.inf), "Pawpularity")
