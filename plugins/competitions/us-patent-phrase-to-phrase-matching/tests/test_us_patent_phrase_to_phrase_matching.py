"""Patent phrases: how scores are written, what is NaN and yet valid, and numbers of any size."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from mlecore_testing import Trial


def test_scores_are_written_short_and_null_is_missing(trial: Trial) -> None:
    train = pd.read_csv(trial.public / "train.csv", dtype=str, keep_default_na=False)
    assert set(train["score"]) == {"0.0", "0.25", "0.5", "0.75", "1.0"}
    assert "null" not in set(train["target"])
    assert set(pd.read_csv(trial.public / "sample_submission.csv", dtype=str)["score"]) == {"0"}


@pytest.mark.parametrize("factor", [1, 1e-200, 1e200, 7.5])
def test_scale_does_not_matter(trial: Trial, answers: pd.DataFrame, factor: float) -> None:
    assert math.isclose(trial.grade(answers.assign(score=answers["score"] * factor)), 1)
    assert math.isclose(trial.grade(answers.assign(score=-answers["score"] * factor)), -1)


@pytest.mark.parametrize("cell", [None, "inf"])
def test_one_bad_number_makes_the_score_undefined(trial: Trial, answers: pd.DataFrame, cell: object) -> None:
    bad = answers.astype({"score": object})
    bad.loc[3, "score"] = cell
    assert math.isnan(trial.grade(bad))
    assert math.isnan(trial.grade(answers.assign(score=2)))


def test_truth_values(trial: Trial, answers: pd.DataFrame) -> None:
    high = answers.assign(score=answers["score"] > 0.4)
    assert trial.grade(high) > 0.5
    gap = high["score"].astype(object).where(high.index != 2)
    trial.refuses(high.assign(score=gap), "True and False, and 1 missing")
