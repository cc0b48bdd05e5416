"""TGS Salt: sorted tables, where pictures go, and the score of a mask."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_tgs_salt_identification_challenge import thresholds_hit

from mlecore import InvalidSubmission
from mlecore.prepare import members
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_tables_are_sorted_and_pictures_follow_them(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    for table in (train, answers, depths := pd.read_csv(trial.public / "depths.csv")):
        assert table["id"].is_monotonic_increasing
    assert depths["id"].tolist() == train["id"].tolist()
    stems = {kind: {path.stem for path in (trial.public / kind).iterdir()} for kind in ("train/images", "train/masks")}
    assert stems["train/images"] == stems["train/masks"] == set(train["id"])
    assert {path.stem for path in (trial.public / "test/images").iterdir()} == set(answers["id"])
    assert not (trial.public / "test/masks").exists()
    assert len(members(trial.raw / "competition_data.zip")) == 1 + 2 * (len(train) + len(answers))


@pytest.mark.parametrize(
    ("truth", "guess", "hits"),
    [
        ([], [], 10),
        ([], [[0, 1]], 0),
        ([[0, 10201]], [], 10),  # as published: nothing marked counts as everything
        ([[0, 5101]], [], 1),
        ([[0, 4]], [[0, 3]], 5),  # 0.75 itself is no hit at 0.75
        ([[0, 2]], [[0, 1]], 0),
        ([[0, 20], [50, 70]], [[0, 20], [50, 68]], 9),
        ([[0, 20]], [[0, 19]], 9),
    ],
)
def test_thresholds(truth: list[list[int]], guess: list[list[int]], hits: int) -> None:
    runs = (np.array(mask, dtype=np.int64).reshape(-1, 2) for mask in (truth, guess))
    assert thresholds_hit(*runs) == hits


def test_odd_masks(trial: Trial, answers: pd.DataFrame) -> None:
    empty = answers["rle_mask"].isna()
    assert math.isclose(trial.grade(answers.assign(rle_mask=np.where(empty, "7", answers["rle_mask"]))), 1)
    full = answers["rle_mask"] == "1 10201"
    assert math.isclose(trial.grade(answers.assign(rle_mask=np.where(full, "1 99999 20000", answers["rle_mask"]))), 1)
    for cell, reason in (("1 3 3 1", "overlap"), ("0 1", "1 or more"), ("1 1 3 1 5", "odd count"), ("1.0 2", "whole")):
        with pytest.raises(InvalidSubmission, match=reason):
            trial.grade(answers.assign(rle_mask=cell))
