"""Spaceship Titanic, edition v2: travel groups are on one side of the split."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.2)


def groups_of_both(trial: Trial) -> set[str]:
    train, test = (set(pd.read_csv(trial.public / f"{part}.csv")["PassengerId"].str[:4]) for part in ("train", "test"))
    return train & test


def test_no_group_is_in_both_parts(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert groups_of_both(trial_v1)
    assert not groups_of_both(trial)
    count = len(pd.read_csv(trial.raw / "train.csv"))
    assert 0.09 * count <= len(answers) <= 0.11 * count
