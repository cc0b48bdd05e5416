"""HMS, edition v2: each row has its own key, and all votes are clipped."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
VOTES = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"]


def test_rows_are_paired_by_their_own_key(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    assert pd.read_csv(trial_v1.public / "test.csv")["eeg_id"].duplicated().any()
    assert "eeg_label_offset_seconds" in pd.read_csv(trial.public / "test.csv")
    assert trial.grade(perfect.sample(frac=1, random_state=0)) < 1e-12


def test_whole_numbers_are_clipped(trial: Trial, perfect: pd.DataFrame) -> None:
    whole = perfect.assign(**dict.fromkeys(VOTES, 0)).assign(other_vote=1)
    assert math.isfinite(trial.grade(whole))
