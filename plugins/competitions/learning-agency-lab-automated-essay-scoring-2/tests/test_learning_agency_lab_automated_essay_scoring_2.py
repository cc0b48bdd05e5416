"""Automated Essay Scoring: scores count by their place among those that occur."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.12)


def test_scores_count_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    top = answers["score"].max()
    shifted = answers["score"].where(answers["score"] < top, 6)
    assert trial.grade(answers.assign(score=shifted)) == trial.grade(answers.assign(score=shifted.replace(6, 100)))
    assert trial.grade(answers.assign(score=answers["score"].astype(float))) == 1
    assert trial.grade(answers.assign(score=3)) == 0
    huge = answers["score"].astype(np.uint64).where(answers.index > 0, np.uint64(2**64 - 1))
    assert math.isfinite(trial.grade(answers.assign(score=huge)))
