"""Paddy Doctor: a train share that is rounded down, folders that must not tell, and numbers for labels."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    assert (len(train), len(answers)) == (92, 31)  # of 123: 92.25 and 30.75
    assert all(path.stat().st_nlink == 1 for path in (trial.public / "test_images").iterdir())  # a link would tell


@pytest.mark.parametrize("value", [1, True])
def test_numbers_throughout_are_refused(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    trial.refuses(answers.assign(label=value), "label")
    assert trial.grade(answers.assign(label=[None, *[value] * (len(answers) - 1)])) == 0
