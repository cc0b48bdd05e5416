"""Google QUEST, edition v2: questions are on one side of the split, and a constant column counts 0."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.2)


def test_a_constant_column_counts_0(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    published = pd.read_csv(trial_v1.private / "test.csv")
    assert math.isnan(trial_v1.grade(published.assign(answer_helpful=0.5)))
    assert trial.grade(answers.assign(answer_helpful=0.5)) == pytest.approx(29 / 30)
