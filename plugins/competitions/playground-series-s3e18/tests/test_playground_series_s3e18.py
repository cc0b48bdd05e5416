"""Playground Series S3E18: two of six classes are asked for, in any finite numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.3)

ASKED = ["EC1", "EC2"]


def test_parts(trial: Trial, answers: pd.DataFrame) -> None:
    test, sample = (pd.read_csv(trial.public / f"{name}.csv") for name in ("test", "sample_submission"))
    pd.testing.assert_frame_equal(test, answers.drop(columns=[f"EC{number}" for number in range(1, 7)]))
    assert test.shape == (12, 32) and answers.shape == (12, 38)
    assert list(sample.columns) == ["id", *ASKED] and not answers["id"].is_monotonic_increasing
    assert answers["fr_COO"].dtype == int


def test_other_columns_are_refused(trial: Trial, answers: pd.DataFrame) -> None:
    raw = trial.folder / "narrow"
    raw.mkdir()
    answers.drop(columns="Chi1").to_csv(raw / "train.csv", index=False)
    with pytest.raises(DataError, match="37 columns; expected 38"):
        trial.competition.prepare(raw, raw / "public", raw / "private")


def test_the_mean_of_two_columns(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(EC3=7, EC2=0.5).sample(frac=1, random_state=1)) == 0.75
    assert trial.grade(answers.assign(EC1=-1e9 * answers["EC1"], EC2=0.5)) == 0.25
    assert trial.grade(answers.assign(EC1=answers["EC1"] == 1, id=answers["id"].astype(float))) == 1


def test_what_counts_as_a_number(trial: Trial, answers: pd.DataFrame) -> None:
    words = answers["EC2"].map({0: " 1_0 ", 1: "١١"})
    assert trial.grade(answers.assign(EC2=words)) == 1
    for value in ("True", '"0,5"', "", "inf"):
        text = answers[["id", *ASKED]].to_csv(index=False).splitlines()
        text[3] = f"{text[3].rpartition(',')[0]},{value}"
        with pytest.raises(InvalidSubmission, match="EC2"):
            trial.grade("\n".join(text))
