"""Histopathologic Cancer Detection: scores that nearly tie."""

from __future__ import annotations

import pandas as pd

from mlecore_testing import Trial


def test_the_last_digit_counts(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(label=0.3 + answers["label"] * 2e-16)) == 1  # not ties
