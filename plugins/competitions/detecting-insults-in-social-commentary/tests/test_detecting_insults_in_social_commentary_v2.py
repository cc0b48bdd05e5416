"""Detecting insults, edition v2: an id is the key of a comment."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_repeated_comments_are_told_apart(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert answers["Comment"].duplicated().any()
    published = pd.read_csv(trial_v1.private / "gold_submission.csv")
    assert min(trial_v1.grade(published.sample(frac=1, random_state=seed)) for seed in range(4)) < 1
    for seed in range(4):
        assert trial.grade(answers[["id", "Insult"]].sample(frac=1, random_state=seed)) == 1
