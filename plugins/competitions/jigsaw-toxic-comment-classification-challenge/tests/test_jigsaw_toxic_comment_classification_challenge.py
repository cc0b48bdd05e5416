"""Toxic comments: rows that are not scored, columns that count by their place, ids that may repeat."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


def test_the_sample_keeps_the_order_of_its_columns(trial: Trial, answers: pd.DataFrame) -> None:
    raw = trial.raw_copy()
    turned = answers[["id", *reversed(CLASSES)]]
    turned.to_csv(raw / "sample_submission.csv.zip", index=False)
    public, _ = trial.prepare(raw)
    assert list(pd.read_csv(public / "sample_submission.csv").columns) == ["id", *reversed(CLASSES)]
    turned[1:].to_csv(raw / "sample_submission.csv.zip", index=False)
    trial.refuses_raw(raw, "differ in length")


def test_only_scored_rows_count(trial: Trial, answers: pd.DataFrame) -> None:
    noise = answers.astype(dict.fromkeys(CLASSES, object))
    for value in ("anything", np.nan):
        noise.loc[answers["toxic"] < 0, CLASSES] = value
        assert trial.grade(noise) == 1


def test_columns_count_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    turned = answers[["id", *reversed(CLASSES)]]
    assert trial.grade(turned) < 0.9
    assert any("by their place" in warning for warning in trial.check(turned))


def test_ids_may_repeat_where_they_are_not_scored(trial: Trial, answers: pd.DataFrame) -> None:
    scored, unscored = answers.index[answers["toxic"] >= 0], answers.index[answers["toxic"] < 0]
    accident = answers.copy()
    accident.loc[unscored[0], "id"] = answers["id"][unscored[1]]
    assert trial.grade(accident) == 1
    assert any("repeated" in warning for warning in trial.check(accident))
    accident.loc[scored[0], "id"] = answers["id"][unscored[1]]
    trial.refuses(accident, "repeated")


@pytest.mark.parametrize("value", [None, "inf", "bad", "True", "1e400"])
def test_scored_values_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"threat": object})
    place = answers.index[answers["toxic"] >= 0][3]
    bad.loc[place, "threat"] = value
    trial.refuses(bad, f"threat.*{answers['id'][place]}")


def test_answers_scored_in_part_fail_every_submission(trial: Trial, answers: pd.DataFrame) -> None:
    answers.loc[0, CLASSES] = [1, 1, -1, 0, 0, 0]
    trial.refuses(answers, "every submission fails", answers)
