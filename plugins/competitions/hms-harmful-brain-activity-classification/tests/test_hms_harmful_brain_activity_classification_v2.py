"""HMS, edition v2: each row has its own key, and votes are numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
VOTES = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"]


def test_no_patient_is_in_both_parts(trial: Trial, trial_v1: Trial) -> None:
    def of_both(folder: Path) -> set[int]:
        train, test = (set(pd.read_csv(folder / f"{part}.csv")["patient_id"]) for part in ("train", "test"))
        return train & test

    assert of_both(trial_v1.public)
    assert not of_both(trial.public)


def test_rows_are_paired_by_their_own_key(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    assert pd.read_csv(trial_v1.public / "test.csv")["eeg_id"].duplicated().any()
    assert "eeg_label_offset_seconds" in pd.read_csv(trial.public / "test.csv")
    assert trial.grade(perfect.sample(frac=1, random_state=0)) < 1e-12


def test_a_missing_vote_is_no_perfect_term(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    def with_a_gap(frame: pd.DataFrame) -> pd.DataFrame:
        votes = frame["seizure_vote"]
        return frame.assign(seizure_vote=votes.where(votes.index != votes.argmin()))

    assert math.isfinite(trial_v1.grade(with_a_gap(pd.read_csv(trial_v1.private / "gold_submission.csv"))))
    trial.refuses(with_a_gap(perfect), "seizure_vote")


def test_whole_numbers_are_clipped(trial: Trial, perfect: pd.DataFrame) -> None:
    whole = perfect.assign(**dict.fromkeys(VOTES, 0)).assign(other_vote=1)
    assert math.isfinite(trial.grade(whole))


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        given = rng.dirichlet([0.3] * 6, len(answers))
        score = 0.0
        for votes, row in zip(answers[VOTES].to_numpy().tolist(), given.tolist(), strict=True):
            shares = [vote / sum(votes) for vote in votes]
            clipped = [min(max(value, 1e-15), 1 - 1e-15) for value in row]
            score += math.fsum(q * math.log(q / p) for q, p in zip(shares, clipped, strict=True) if q)
        frame = answers[["label_id"]].join(pd.DataFrame(given, columns=VOTES))
        assert abs(trial.competition.grade(frame, trial.private) - score / len(answers)) < 1e-9
