"""SETI: arrays in folders by first character, old data as they are."""

from __future__ import annotations

import pandas as pd
import pytest
from pandas import DataFrame

from mlecore.errors import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_arrays_lie_under_the_first_character(trial: Trial, answers: DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train_labels.csv")
    train = pd.read_csv(trial.public / "train_labels.csv")
    assert answers["id"].tolist() == raw["id"].iloc[[26, 86, 2, 55, 75, 93, 16, 73, 54, 95]].tolist()
    for folder, part in (("train", train), ("test", answers)):
        made = sorted(
            path.relative_to(trial.public / folder).as_posix() for path in (trial.public / folder).rglob("*.*")
        )
        assert made == sorted(f"{id[0]}/{id}.npy" for id in part["id"])
        for name in made:
            assert (trial.public / folder / name).read_bytes() == (trial.raw / "train" / name).read_bytes()


def test_old_data_come_whole(trial: Trial) -> None:
    old = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (trial.raw / "old_leaky_data", trial.public / "old_leaky_data")
    ]
    assert old[0] == old[1]
    assert len(old[0]) == 5


def test_true_and_false_count(trial: Trial, answers: DataFrame) -> None:
    assert trial.grade(answers.assign(target=answers["target"] == 1, more=1)) == 1
    assert trial.grade(answers.assign(target=1 - answers["target"])[::-1]) == 0


@pytest.mark.parametrize("value", ["", "1.0000001", "-0.1", "inf", "1_0", "yes"])
def test_refused_cells(trial: Trial, answers: DataFrame, value: str) -> None:
    answers["target"] = answers["target"].astype(object)
    answers.loc[1, "target"] = value
    with pytest.raises(InvalidSubmission):
        trial.grade(answers)
