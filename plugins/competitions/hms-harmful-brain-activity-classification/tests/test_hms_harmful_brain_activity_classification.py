"""HMS: sums of votes, whole numbers and gaps."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from mle_comp_hms_harmful_brain_activity_classification import VOTES

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.75)


def test_whole_numbers_are_not_clipped(trial: Trial, perfect: pd.DataFrame) -> None:
    other = perfect.assign(**dict.fromkeys(VOTES, 0) | {"other_vote": 1})
    assert trial.grade(other) == math.inf
    assert math.isfinite(trial.grade(other.astype(dict.fromkeys(VOTES, float))))


def test_gaps_count_as_perfect(trial: Trial, perfect: pd.DataFrame) -> None:
    assert trial.grade(perfect.assign(**dict.fromkeys(VOTES) | {"seizure_vote": 1.0, "more": 0})) <= 0
    assert "missing" in trial.check(perfect.assign(lpd_vote=perfect["lpd_vote"].replace(0, None)))[0]


def test_ids_are_compared_as_a_set(trial: Trial, perfect: pd.DataFrame) -> None:
    often = perfect.loc[perfect["eeg_id"].duplicated(), "eeg_id"].iloc[0]
    rows = perfect.index[perfect["eeg_id"] == often]
    once = next(id for id in perfect["eeg_id"] if id != often)
    assert math.isfinite(trial.grade(perfect.assign(eeg_id=perfect["eeg_id"].where(perfect.index != rows[0], once))))
    trial.refuses(perfect.assign(eeg_id=perfect["eeg_id"].replace(often, once)), "lacks 1 eeg_id")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lpd_vote": 0.166673}, "sum of the votes"),
        ({"more": 1}, "sum of all columns but eeg_id"),
        ({"more": 2}, "from 0 to 1"),
        ({"more": "word"}, "'more' must hold .*; found row 1: 'word'"),
        ({"more": False}, "'more' must hold numbers; it holds True and False"),
        (dict.fromkeys(VOTES, False) | {"lpd_vote": True}, "'seizure_vote' must hold numbers; it holds True"),
    ],
)
def test_refused(trial: Trial, perfect: pd.DataFrame, change: dict[str, object], reason: str) -> None:
    even = perfect.assign(**dict.fromkeys(VOTES, 1 / 6))
    assert trial.grade(even.assign(lpd_vote=0.16667)) > 0
    trial.refuses(even.assign(**change), reason)
