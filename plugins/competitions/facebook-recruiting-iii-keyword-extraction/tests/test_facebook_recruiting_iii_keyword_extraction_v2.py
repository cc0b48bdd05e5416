"""Keyword extraction, edition v2: repeated questions on one side, F1 of each question, tags that are text."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.8)


def table(trial: Trial, part: str) -> pd.DataFrame:
    return pd.read_csv(trial.public / f"{part}.csv", na_filter=False, lineterminator="\n")


def test_no_tag_is_lost(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert "" in set(table(trial_v1, "train")["Tags"])
    assert "null" in set(table(trial, "train")["Tags"])
    assert "NA" in set(table(trial, "train")["Title"])
    raw = (trial.private / "test.csv").read_bytes().decode()
    assert trial.grade(raw) == 1
    truth = pd.DataFrame({"Id": [1, 2], "Tags": ["null", "007"]})
    assert trial.grade(truth, truth) == 1
    assert trial.grade(truth.assign(Tags=["nan", "7"]), truth) == 0


def test_foreign_tags_cost(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"Id": [1, 2], "Tags": ["php mysql", "c#"]})
    more = truth.assign(Tags=truth["Tags"] + " never-seen")
    assert trial_v1.grade(more, truth) == 1
    assert math.isclose(trial.grade(more, truth), (4 / 5 + 2 / 3) / 2)
