"""Paddy Doctor: a train share that is rounded down, folders that must not tell, and missing labels."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    assert (len(train), len(answers)) == (62, 21)  # of 83: 62.25 and 20.75
    assert all(path.stat().st_nlink == 1 for path in (trial.public / "test_images").iterdir())  # a link would tell


def test_other_columns_of_the_sample_are_refused(trial: Trial) -> None:
    raw = trial.raw_copy()
    (raw / "sample_submission.csv").write_text("image_id,disease\n")
    trial.refuses_raw(raw, "sample_submission")


def test_missing_labels_are_wrong(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade((trial.public / "sample_submission.csv").read_bytes()) == 0
    assert trial.grade(answers.assign(label=answers["label"].where(answers.index > 0))) == 20 / 21
    assert trial.grade(answers.assign(label=" " + answers["label"])) == 0
    assert trial.grade(answers.assign(label=["1", *answers["label"][1:]])) == 20 / 21


@pytest.mark.parametrize("value", [1, True])
def test_numbers_throughout_are_refused(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    trial.refuses(answers.assign(label=value), "label")
    assert trial.grade(answers.assign(label=[None, *[value] * (len(answers) - 1)])) == 0
