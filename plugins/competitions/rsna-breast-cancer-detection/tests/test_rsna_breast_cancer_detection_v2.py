"""RSNA mammography, edition v2: predictions are probabilities."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


@pytest.mark.parametrize("value", [math.nan, -0.5, 1.5])
def test_a_prediction_that_is_no_probability_is_invalid(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, value: float
) -> None:
    odd = answers.assign(cancer=[value, *answers["cancer"][1:]])
    assert trial_v1.grade(odd) >= 0
    trial.refuses(odd, "numbers from 0 to 1 in every row")


def test_images_of_a_breast_must_agree(trial: Trial) -> None:
    raw = trial.raw_copy()
    table = pd.read_csv(raw / "train.csv")
    table.loc[0, "cancer"] = 1 - table["cancer"][0]
    table.to_csv(raw / "train.csv", index=False)
    trial.refuses_raw(raw, "1 breasts have images that differ")


def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        given = rng.random(len(answers)) * (rng.random(len(answers)) < 0.7)
        pairs = list(zip(answers["cancer"], given.tolist(), strict=True))
        true, false = (math.fsum(p for y, p in pairs if y == kind) for kind in (1, 0))
        if true == 0:
            continue
        precision, recall = true / (true + false), true / sum(y for y, _ in pairs)
        frame = answers.assign(cancer=given).sample(frac=1, random_state=1)
        score = trial.competition.grade(frame, trial.private)
        assert abs(score - 2 * precision * recall / (precision + recall)) < 1e-9
