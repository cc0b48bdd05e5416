"""Spooky Author Identification: rows that add up to 1, and the place of the id."""

from __future__ import annotations

import math

import pandas as pd
from mlecore_testing import Trial

AUTHORS = ["EAP", "HPL", "MWS"]


def test_answers_are_one_hot(trial: Trial, answers: pd.DataFrame) -> None:
    public = pd.read_csv(trial.public / "test.csv").merge(pd.read_csv(trial.raw / "train.zip"), on=["id", "text"])
    assert answers[AUTHORS].idxmax(axis=1).tolist() == public["author"].tolist()
    assert (answers[AUTHORS].sum(axis=1) == 1).all()


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    thirds = answers.assign(EAP=1 / 3, HPL=1 / 3, MWS=1 / 3)
    assert math.isclose(trial.grade(thirds), math.log(3))
    assert trial.grade(thirds.assign(MWS=1 / 3 + 1e-5)) < math.log(3)  # within the tolerance, and not rescaled
    wrong = answers.set_axis(["id", "HPL", "MWS", "EAP"], axis=1)
    assert math.isclose(trial.grade(wrong), -math.log(2.220446049250313e-16))
    assert trial.grade(answers[["id"]].join(answers[AUTHORS] == 1)) < 1e-15  # True and False


def test_the_id_comes_first(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers[[*AUTHORS, "id"]], "the first column must be id")
