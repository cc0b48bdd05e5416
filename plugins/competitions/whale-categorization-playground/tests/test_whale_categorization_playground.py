"""Whales: what counts as a guess."""

from __future__ import annotations

import pytest
from pandas import DataFrame

from mlecore_testing import Trial


@pytest.mark.parametrize(
    ("pattern", "score"),
    [("1 {}", 1 / 2), ("1  {}", 1 / 3), ("1 1 {0} {0}", 1 / 3), ("1 2 3 4 5 {}", 0), ("{}", 1), ("{} ", 1), ("", 0)],
)
def test_scores(trial: Trial, answers: DataFrame, pattern: str, score: float) -> None:
    predictions = answers.assign(Id=[pattern.format(whale) for whale in answers["Id"]])
    assert trial.grade(predictions) == pytest.approx(score, abs=1e-12)
