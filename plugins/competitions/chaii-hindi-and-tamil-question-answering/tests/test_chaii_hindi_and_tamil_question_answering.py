"""Hindi and Tamil: sets of words, what counts as text, and answers with too few words."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_an_answer_na_is_missing_and_scores_0(trial: Trial, answers: pd.DataFrame) -> None:
    assert answers["PredictionString"].isna().sum() == 1
    filled = answers["PredictionString"].notna().mean()
    assert math.isclose(trial.grade(answers), filled)
    assert math.isclose(
        trial.grade(answers.assign(PredictionString=answers["PredictionString"] + " x X")), _with_x(answers)
    )
    assert trial.grade(answers.assign(PredictionString=None)) == 0


def _with_x(answers: pd.DataFrame) -> float:
    words = answers["PredictionString"].fillna("").str.lower().str.split().map(set).map(len)
    return float((words / (words + 1)).mean())


@pytest.mark.parametrize("cells", ["7", "True"])
def test_a_column_without_text_is_refused(trial: Trial, answers: pd.DataFrame, cells: str) -> None:
    for column in ([cells] * len(answers), [cells, *[""] * (len(answers) - 1)]):
        with pytest.raises(InvalidSubmission, match="read as numbers or as true and false"):
            trial.grade(answers.assign(PredictionString=column))


def test_two_words_at_least(trial: Trial, tmp_path: Path) -> None:
    truth, submission = tmp_path / "test.csv", tmp_path / "submission.csv"
    truth.write_text("id,PredictionString\na,\nb,One\n")
    submission.write_text("id,PredictionString\nb,one\na,\n")
    with pytest.raises(InvalidSubmission, match="fewer than two words"):
        trial.competition.grade(submission, tmp_path)
    submission.write_text("id,PredictionString\nb,one\na,two\n")
    assert trial.competition.grade(submission, tmp_path) == 0.5
    truth.write_text("id,PredictionString\na,1\nb,2\n")
    with pytest.raises(InvalidSubmission, match="text"):
        trial.competition.grade(submission, tmp_path)
