"""Automated Essay Scoring 2.0, edition v2: kappa over the scores 1 to 6."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_other_values_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    foreign = answers.assign(score=[7, *answers["score"][1:]])
    assert trial_v1.grade(foreign) < 1
    trial.refuses(foreign, "from 1 to 6")


def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    truth = answers["score"].to_numpy()
    cells = [(i, j) for i in range(1, 7) for j in range(1, 7)]
    for _ in range(50):
        given = rng.choice(rng.permutation(6)[: rng.integers(2, 7)] + 1, len(truth))
        observed = sum((i - j) ** 2 * int(((truth == i) & (given == j)).sum()) for i, j in cells)
        expected = sum((i - j) ** 2 * int((truth == i).sum()) * int((given == j).sum()) for i, j in cells)
        score = trial.competition.grade(answers.assign(score=given), trial.private)
        assert abs(score - (1 - observed * len(truth) / expected)) < 1e-9
