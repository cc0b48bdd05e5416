"""SETI: arrays in folders by first character, old data as they are."""

from __future__ import annotations

import pandas as pd
from mlecore_testing import Trial
from pandas import DataFrame


def test_arrays_are_in_folders_by_first_character(trial: Trial, answers: DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train_labels.csv")
    train = pd.read_csv(trial.public / "train_labels.csv")
    assert answers["id"].tolist() == raw["id"].iloc[[26, 86, 2, 55, 75, 93, 16, 73, 54, 95]].tolist()
    for folder, part in (("train", train), ("test", answers)):
        assert {
            path.relative_to(trial.public / folder).as_posix() for path in (trial.public / folder).rglob("*.*")
        } == {f"{id[0]}/{id}.npy" for id in part["id"]}


def test_old_data_come_whole(trial: Trial) -> None:
    old = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (trial.raw / "old_leaky_data", trial.public / "old_leaky_data")
    ]
    assert old[0] == old[1]
    assert len(old[0]) == 1 + 4 + 5  # the table, four arrays, and half of the ten test arrays


def test_true_and_false_count(trial: Trial, answers: DataFrame) -> None:
    assert trial.grade(answers.assign(target=answers["target"] == 1, more=1)) == 1
    assert trial.grade(answers.assign(target=1 - answers["target"])[::-1]) == 0
