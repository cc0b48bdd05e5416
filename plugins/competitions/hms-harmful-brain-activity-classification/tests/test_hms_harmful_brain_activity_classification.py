"""HMS: spectrograms of the split, sums of votes, whole numbers and gaps."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_hms_harmful_brain_activity_classification import VOTES

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.75)


@pytest.fixture
def gold(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "gold_submission.csv")


def test_spectrograms_stay_together(trial: Trial, answers: pd.DataFrame, gold: pd.DataFrame) -> None:
    raw, train = pd.read_csv(trial.raw / "train.csv"), pd.read_csv(trial.public / "train.csv")
    chosen = raw["spectrogram_id"].isin(answers["spectrogram_id"])
    pd.testing.assert_frame_equal(answers, raw[chosen].reset_index(drop=True))
    pd.testing.assert_frame_equal(train, raw[~chosen].reset_index(drop=True))
    test = pd.read_csv(trial.public / "test.csv")
    assert list(test.columns) == ["spectrogram_id", "eeg_id", "patient_id"] and len(test) == len(answers)
    for kind, key in (("eegs", "eeg_id"), ("spectrograms", "spectrogram_id")):
        names = {path.stem for path in (trial.public / f"test_{kind}").iterdir()}
        assert names == set(answers[key].astype(str))
    assert (gold[VOTES].sum(axis=1).round(9) == 1).all()
    assert ",0.16666666666666666," in (trial.public / "sample_submission.csv").read_text()


def test_divergence(trial: Trial, answers: pd.DataFrame, gold: pd.DataFrame) -> None:
    assert trial.grade(gold) == pytest.approx(0, abs=1e-12)
    shares = gold[VOTES].to_numpy()
    entropy = -np.sum(shares * np.log(np.where(shares > 0, shares, 1)), axis=1).mean()
    assert trial.grade(gold.assign(**dict.fromkeys(VOTES, 1 / 6))) == pytest.approx(math.log(6) - entropy, abs=1e-12)


def test_whole_numbers_are_not_clipped(trial: Trial, gold: pd.DataFrame) -> None:
    other = gold.assign(**dict.fromkeys(VOTES, 0) | {"other_vote": 1})
    assert trial.grade(other) == math.inf
    assert math.isfinite(trial.grade(other.astype(dict.fromkeys(VOTES, float))))


def test_gaps_count_as_perfect(trial: Trial, gold: pd.DataFrame) -> None:
    assert trial.grade(gold.assign(**dict.fromkeys(VOTES) | {"seizure_vote": 1.0, "more": 0})) <= 0
    assert any("missing" in warning for warning in trial.check(gold.assign(lpd_vote=gold["lpd_vote"].replace(0, None))))


def test_ids_are_compared_as_a_set(trial: Trial, gold: pd.DataFrame) -> None:
    often = gold.loc[gold["eeg_id"].duplicated(), "eeg_id"].iloc[0]
    rows = gold.index[gold["eeg_id"] == often]
    once = next(id for id in gold["eeg_id"] if id != often)
    assert math.isfinite(trial.grade(gold.assign(eeg_id=gold["eeg_id"].where(gold.index != rows[0], once))))
    with pytest.raises(InvalidSubmission, match="lacks 1 eeg_id"):
        trial.grade(gold.assign(eeg_id=gold["eeg_id"].replace(often, once)))


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
def test_refused(trial: Trial, gold: pd.DataFrame, change: dict[str, object], reason: str) -> None:
    even = gold.assign(**dict.fromkeys(VOTES, 1 / 6))
    assert trial.grade(even.assign(lpd_vote=0.16667)) > 0
    with pytest.raises(InvalidSubmission, match=reason):
        trial.grade(even.assign(**change))
