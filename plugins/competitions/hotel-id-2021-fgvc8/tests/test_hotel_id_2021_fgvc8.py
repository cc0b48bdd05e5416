"""Hotel-ID 2021: what counts as a hotel."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


@pytest.mark.parametrize(
    ("pattern", "score"),
    [
        ("1 {}", 1 / 2),
        ("1 1 1 1 {0} {0}", 1 / 5),
        ("1 2 3 4 5 {}", 0),
        ("{0} {0} {0}", 1),
        (" {} 1", 1 / 2),
        ("1  {}", 1 / 3),
        ("0{} 1", 0),
        ("{}", 1),
        ("{}.0", 0),
    ],
)
def test_scores(trial: Trial, answers: pd.DataFrame, pattern: str, score: float) -> None:
    predictions = answers.assign(hotel_id=[pattern.format(hotel) for hotel in answers["hotel_id"]])
    assert trial.grade(predictions) == pytest.approx(score, abs=1e-12)


def test_an_empty_cell_makes_numbers_of_single_hotels(trial: Trial, answers: pd.DataFrame) -> None:
    answers["hotel_id"] = answers["hotel_id"].astype(object)
    answers.loc[0, "hotel_id"] = None
    assert trial.grade(answers) == 0
    answers.loc[0, "hotel_id"] = "none"
    assert trial.grade(answers) == 1 - 1 / len(answers)
