"""Whales: who goes where, and what counts as a guess."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial
from pandas import DataFrame


def test_whales_are_dealt_one_by_one(trial: Trial, answers: DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    tested = raw["Image"].isin(answers["Image"])
    assert raw["Image"][tested].tolist() == answers["Image"].tolist()
    counts = raw["Id"].map(raw["Id"].value_counts())
    pairs = raw[counts == 2]
    first = ~pairs.duplicated("Id")
    assert tested[pairs.index].tolist() == first.tolist()  # the second for training, the first for testing
    singles = raw.index[counts == 1]
    rng = np.random.default_rng(0)
    drawn = [rng.choice(["train", "test"], replace=False, p=[0.9, 0.1]) == "test" for _ in singles]
    assert tested[singles].tolist() == drawn
    assert set(answers["Id"]) - set(pd.read_csv(trial.public / "train.csv")["Id"]) == set()
    assert (answers.set_index("Image")["Id"][raw["Image"][singles[[5, 9, 26, 27]]]] == "new_whale").all()


@pytest.mark.parametrize(
    ("pattern", "score"),
    [("1 {}", 1 / 2), ("1  {}", 1 / 3), ("1 1 {0} {0}", 1 / 3), ("1 2 3 4 5 {}", 0), ("{}", 1), ("{} ", 1), ("", 0)],
)
def test_scores(trial: Trial, answers: DataFrame, pattern: str, score: float) -> None:
    predictions = answers.assign(Id=[pattern.format(whale) for whale in answers["Id"]])
    assert trial.grade(predictions) == pytest.approx(score, abs=1e-12)
