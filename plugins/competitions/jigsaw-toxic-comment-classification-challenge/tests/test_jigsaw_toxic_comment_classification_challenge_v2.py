"""Toxic comments, edition v2: columns go by their names, ids are there once."""

from __future__ import annotations

import numpy as np
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


def test_ids_are_there_once_with_numbers(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, right: pd.DataFrame
) -> None:
    unscored = right["id"][answers["toxic"] < 0].tolist()
    again = right.assign(id=right["id"].replace(unscored[0], unscored[1]))
    assert trial_v1.grade(again) == 1
    trial.refuses(again, unscored[0])
    words = right.astype({"threat": object})
    words.loc[right["id"] == unscored[0], "threat"] = "high"
    assert trial_v1.grade(words) == 1
    trial.refuses(words, "threat")
    trial.refuses(right.assign(threat=right["threat"] + 0.5), "from 0 to 1")


def test_comments_are_text(trial: Trial, trial_v1: Trial) -> None:
    for name in ("train.csv", "test.csv"):
        tables = [pd.read_csv(each.public / name, na_filter=False) for each in (trial, trial_v1)]
        assert "NA" in set(tables[0]["comment_text"]) and "NA" not in set(tables[1]["comment_text"])


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (30, 6))
    labels[:10] = -1
    truth = pd.DataFrame(labels, columns=CLASSES)
    truth.insert(0, "id", [f"c{i}" for i in range(30)])
    for _ in range(200):
        values = rng.integers(0, rng.choice([3, 1000]), (30, 6)) / 1000
        aucs = []
        for k in range(6):
            pairs = [(p, n) for p in values[labels[:, k] == 1, k] for n in values[labels[:, k] == 0, k]]
            aucs.append(sum((p > n) + (p == n) / 2 for p, n in pairs) / len(pairs))
        given = pd.DataFrame(values, columns=CLASSES)[rng.permutation(CLASSES)].assign(id=truth["id"])
        assert abs(trial.grade(given, truth) - sum(aucs) / 6) < 1e-9
