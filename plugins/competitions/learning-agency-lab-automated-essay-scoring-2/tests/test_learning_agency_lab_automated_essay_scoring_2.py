"""Automated Essay Scoring: scores count by their place among those that occur."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.12)


def test_ids_stay_text_and_the_sample_is_the_published_one(trial: Trial, answers: pd.DataFrame) -> None:
    ids = {*pd.read_csv(trial.public / "train.csv")["essay_id"], *answers["essay_id"]}
    assert {"0012345", "000e118"} <= ids
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert sample["essay_id"].tolist() == answers["essay_id"].tolist()
    assert sample["score"].tolist()[:5] == [4, 5, 3, 5, 5]


def test_scores_count_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    top = answers["score"].max()
    shifted = answers["score"].where(answers["score"] < top, 6)
    assert trial.grade(answers.assign(score=shifted)) == trial.grade(answers.assign(score=shifted.replace(6, 100)))
    assert trial.grade(answers.assign(score=answers["score"].astype(float))) == 1
    assert trial.grade(answers.assign(score=3)) == 0
    huge = answers["score"].astype(np.uint64).where(answers.index > 0, np.uint64(2**64 - 1))
    assert math.isfinite(trial.grade(answers.assign(score=huge)))


@pytest.mark.parametrize("cell", [3.5, 1e19, None, "inf", "three"])
def test_only_whole_numbers(trial: Trial, answers: pd.DataFrame, cell: object) -> None:
    bad = answers.astype({"score": object})
    bad.loc[3, "score"] = cell
    trial.refuses(bad, "whole numbers")
