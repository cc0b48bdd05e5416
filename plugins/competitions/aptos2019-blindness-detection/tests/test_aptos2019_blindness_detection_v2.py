"""APTOS 2019, edition v2: kappa over the grades 0 to 4."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_other_values_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    foreign = answers.assign(diagnosis=[9, *answers["diagnosis"][1:]])
    assert trial_v1.grade(foreign) < 1
    trial.refuses(foreign, "from 0 to 4")


def test_an_absent_grade_does_not_shorten_distances(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"id_code": ["a", "b", "c"], "diagnosis": [0, 4, 1]})
    given = truth.assign(diagnosis=[0, 4, 4])
    assert trial_v1.grade(given, truth) != trial.grade(given, truth)


def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    truth = answers["diagnosis"].to_numpy()
    for _ in range(50):
        given = rng.choice(rng.permutation(5)[: rng.integers(2, 6)], len(truth))
        weights = [[(i - j) ** 2 / 16 for j in range(5)] for i in range(5)]
        cells = [(i, j) for i in range(5) for j in range(5)]
        observed = sum(weights[i][j] * int(((truth == i) & (given == j)).sum()) for i, j in cells)
        expected = sum(weights[i][j] * int((truth == i).sum()) * int((given == j).sum()) for i, j in cells)
        score = trial.competition.grade(answers.assign(diagnosis=given), trial.private)
        assert abs(score - (1 - observed * len(truth) / expected)) < 1e-9
        assert abs(score - cohen_kappa_score(truth, given, labels=range(5), weights="quadratic")) < 1e-9
