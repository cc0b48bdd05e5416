"""Toxic comments: rows that are not scored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


def test_only_scored_rows_count(trial: Trial, answers: pd.DataFrame) -> None:
    noise = answers.astype(dict.fromkeys(CLASSES, object))
    for value in ("anything", np.nan):
        noise.loc[answers["toxic"] < 0, CLASSES] = value
        assert trial.grade(noise) == 1


@pytest.mark.parametrize("value", [None, "inf", "bad", "True", "1e400"])
def test_scored_values_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"threat": object})
    place = answers.index[answers["toxic"] >= 0][3]
    bad.loc[place, "threat"] = value
    trial.refuses(bad, f"threat.*{answers['id'][place]}")


def test_answers_scored_in_part_fail_every_submission(trial: Trial, answers: pd.DataFrame) -> None:
    answers.loc[0, CLASSES] = [1, 1, -1, 0, 0, 0]
    trial.refuses(answers, "every submission fails", answers)
