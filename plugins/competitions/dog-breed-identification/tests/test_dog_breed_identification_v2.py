"""Dog Breed Identification, edition v2: rows are rescaled."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_rows_are_rescaled(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    ones = answers.assign(**dict.fromkeys(answers.columns[1:], 1))
    trial_v1.refuses(ones, "add up to 1")
    assert math.isclose(trial.grade(ones), math.log(120))
    wrong = pd.DataFrame(np.roll(answers.iloc[:, 1:], 1, axis=1), columns=answers.columns[1:])
    assert math.isclose(trial.grade(answers[["id"]].join(wrong)), -math.log(1e-15))  # as Kaggle clips
    trial.refuses(answers.assign(**dict.fromkeys(answers.columns[1:], 0)), "sum above 0")


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    breeds = list(answers.columns[1:])
    truth = answers[breeds].to_numpy().argmax(axis=1).tolist()
    for _ in range(200):
        given = rng.random((len(answers), 120))
        losses = [-math.log(row[true] / math.fsum(row)) for row, true in zip(given.tolist(), truth, strict=True)]
        frame = answers[["id"]].join(pd.DataFrame(given, columns=breeds))
        assert abs(trial.competition.grade(frame, trial.private) - math.fsum(losses) / len(losses)) < 1e-9
