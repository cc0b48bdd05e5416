"""Plant Pathology 2021: words that are no class cost nothing, and a column of numbers is rejected."""

from __future__ import annotations

import pandas as pd
from mlecore_testing import Trial


def test_pictures_follow_the_split(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    for part, folder in ((train, "train_images"), (answers, "test_images")):
        assert sorted(part["image"]) == sorted(path.name for path in (trial.public / folder).iterdir())
        for name in part["image"]:
            assert (trial.public / folder / name).read_bytes() == (trial.raw / "train_images" / name).read_bytes()


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    pairs = sum(len(cell.split()) for cell in answers["labels"])
    healthy = int((answers["labels"] == "healthy").sum())
    assert trial.grade(answers.assign(labels="healthy  healthy 7 Scab")) == 2 * healthy / (pairs + len(answers))
    assert trial.grade(answers.assign(labels=answers["labels"].str.replace(" ", ","))) < 1
    assert trial.grade(answers.assign(labels="")) == 0


def test_a_column_of_numbers_is_refused(trial: Trial, answers: pd.DataFrame) -> None:
    for value in ("1", "True"):
        trial.refuses(answers.assign(labels=value), "text")
    trial.refuses(answers.rename(columns={"labels": " labels"}), "labels")
