"""Google QUEST, edition v2: questions are on one side of the split, and only numbers are ranked."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from mle_comp_google_quest_challenge import TARGETS
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.2)


def questions_of_both(trial: Trial) -> set[str]:
    train, test = (set(pd.read_csv(trial.public / f"{part}.csv")["url"]) for part in ("train", "test"))
    return train & test


def test_no_question_is_in_both_parts(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert questions_of_both(trial_v1)
    assert not questions_of_both(trial)
    assert len(answers) == len(pd.read_csv(trial.raw / "train.csv")) / 10
    assert (answers[TARGETS].nunique() > 1).all()


def test_only_numbers_from_0_to_1_under_their_ids_are_valid(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame
) -> None:
    published = pd.read_csv(trial_v1.private / "test.csv")
    assert trial_v1.grade(published.assign(qa_id=published["qa_id"] + 10**6)) == pytest.approx(1)
    trial.refuses(answers.assign(qa_id=answers["qa_id"] + 10**6), "qa_id")
    for value in ("b", math.nan, 2):
        trial.refuses(answers.assign(answer_helpful=value), "answer_helpful")


def test_a_constant_column_counts_0(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    published = pd.read_csv(trial_v1.private / "test.csv")
    assert math.isnan(trial_v1.grade(published.assign(answer_helpful=0.5)))
    assert trial.grade(answers.assign(answer_helpful=0.5)) == pytest.approx(29 / 30)


def ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + 1 + bisect_right(ordered, value)) / 2 for value in values]


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    truth = {name: ranks(answers[name].tolist()) for name in TARGETS}
    for _ in range(200):
        given = pd.DataFrame(rng.integers(0, rng.choice([2, 5, 1000]), (len(answers), 30)) / 1000, columns=TARGETS)
        total = 0.0
        for name in TARGETS:
            x, y = np.array(truth[name]), np.array(ranks(given[name].tolist()))
            x, y = x - x.mean(), y - y.mean()
            total += float((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum())) if y.any() else 0
        score = trial.competition.grade(answers[["qa_id"]].join(given), trial.private)
        assert abs(score - total / 30) < 1e-9
