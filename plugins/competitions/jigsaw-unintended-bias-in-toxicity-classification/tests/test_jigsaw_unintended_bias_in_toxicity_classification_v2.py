"""Jigsaw Unintended Bias, edition v2: predictions are ranked as they are."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.3)


def test_ranks_on_one_side_of_a_half_count(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    low = answers[["id"]].assign(prediction=answers["toxicity"] / 4)
    assert trial_v1.grade(low) == 0.5
    assert trial.grade(low) == 1


def test_an_auc_of_0_is_no_error(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    wrong = answers[["id"]].assign(prediction=(answers["toxicity"] < 0.5).astype(int))
    trial_v1.refuses(wrong, "AUC of male is 0")
    assert trial.grade(wrong) == 0


def test_comments_are_text(trial: Trial, trial_v1: Trial) -> None:
    tables = [pd.read_csv(each.public / "test.csv", keep_default_na=False) for each in (trial, trial_v1)]
    assert "NA" in set(tables[0]["comment_text"]) and "NA" not in set(tables[1]["comment_text"])
