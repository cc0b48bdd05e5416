"""Toxic comments, edition v2: columns go by their names, and comments are text."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_jigsaw_toxic_comment_classification_challenge import CLASSES

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.3)


@pytest.fixture
def right(answers: pd.DataFrame) -> pd.DataFrame:
    return answers.assign(**{name: answers[name].clip(lower=0) for name in CLASSES})


def test_columns_go_by_their_names(trial: Trial, trial_v1: Trial, right: pd.DataFrame) -> None:
    turned = right[["id", *CLASSES[::-1]]].assign(note="x")
    assert trial_v1.grade(turned.drop(columns="note")) < 0.9
    assert trial.grade(turned.iloc[::-1]) == 1


def test_comments_are_text(trial: Trial, trial_v1: Trial) -> None:
    for name in ("train.csv", "test.csv"):
        tables = [pd.read_csv(each.public / name, na_filter=False) for each in (trial, trial_v1)]
        assert "NA" in set(tables[0]["comment_text"]) and "NA" not in set(tables[1]["comment_text"])
