"""Hindi and Tamil questions, edition v2: articles are on one side of the split, and texts are text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def contexts_of_both(trial: Trial) -> set[str]:
    train, test = (set(pd.read_csv(trial.public / f"{part}.csv")["context"]) for part in ("train", "test"))
    return train & test


def test_no_article_is_in_both_parts(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert contexts_of_both(trial_v1)
    assert not contexts_of_both(trial)
    assert len(answers) == len(pd.read_csv(trial.raw / "train.csv")) / 10


def test_texts_are_text(trial: Trial, trial_v1: Trial) -> None:
    tables = [pd.read_csv(each.public / "train.csv", na_filter=False) for each in (trial, trial_v1)]
    assert "NA" in set(tables[0]["answer_text"]) and "NA" not in set(tables[1]["answer_text"])
    truth = pd.DataFrame({"id": ["a", "b", "c"], "PredictionString": ["NA", "007", ""]})
    assert trial.grade(truth, truth) == 1
    trial_v1.refuses(truth, "numbers", truth)
    assert trial.grade(truth.assign(PredictionString=["", "7", "NA"]), truth) == 0


def test_a_submission_of_numbers_is_valid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    published = pd.read_csv(trial_v1.private / "test.csv").assign(PredictionString=1947)
    trial_v1.refuses(published, "numbers")
    assert trial.grade(answers.assign(PredictionString=1947)) < 1


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"id": [f"q{i}" for i in range(20)], "PredictionString": [text(rng) for _ in range(20)]})
    for _ in range(200):
        given = truth.assign(PredictionString=[text(rng) for _ in range(20)])
        total = 0.0
        for right, said in zip(truth["PredictionString"], given["PredictionString"], strict=True):
            a, b = set(right.lower().split()), set(said.lower().split())
            total += len(a & b) / len(a | b) if a | b else 1
        assert abs(trial.grade(given.iloc[::-1], truth) - total / 20) < 1e-9


def text(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(["NA", "a", "A", "1947", "null", "गंगा"], rng.integers(0, 4)))
