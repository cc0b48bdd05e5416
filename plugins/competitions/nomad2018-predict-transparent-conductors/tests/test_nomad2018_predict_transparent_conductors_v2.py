"""Nomad2018, edition v2: rows are paired by their ids."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_rows_are_paired_by_their_ids(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    upside_down = answers.iloc[::-1]
    assert trial_v1.grade(upside_down) > 0
    assert trial.grade(upside_down) == 0
