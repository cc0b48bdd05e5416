"""Detecting insults, edition v2: an id is the key of a comment."""

from __future__ import annotations

import numpy as np
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


def test_comments_are_those_of_v1(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    tables = [pd.read_csv(each.public / "test.csv", na_filter=False) for each in (trial, trial_v1)]
    assert tables[0].drop(columns="id").equals(tables[1])
    assert tables[0]["id"].tolist() == answers["id"].tolist()


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(0, rng.choice([3, 1000]), len(answers)) / 1000
        insults, others = (values[(answers["Insult"] == kind).to_numpy()] for kind in (1, 0))
        pairs = [(p > n) + (p == n) / 2 for p in insults.tolist() for n in others.tolist()]
        frame = answers[["id"]].assign(Insult=values)
        assert abs(trial.competition.grade(frame, trial.private) - sum(pairs) / len(pairs)) < 1e-9
