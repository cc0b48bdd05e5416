"""iMet 2020, edition v2: all attributes count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2, edition="v2")


def test_attributes_that_no_answer_has_cost(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    more = answers.assign(attribute_ids=answers["attribute_ids"] + " 3473")
    right = sum(len(cell.split()) for cell in answers["attribute_ids"])
    assert trial_v1.grade(more) == 1
    assert trial.grade(more) == 2 * right / (2 * right + len(answers))


@pytest.mark.parametrize("word", ["3474", "01", "1.0", "x"])
def test_other_attributes_are_invalid(trial: Trial, answers: pd.DataFrame, word: str) -> None:
    trial.refuses(answers.assign(attribute_ids=answers["attribute_ids"] + f" {word}"), "attributes of labels.csv")


def test_each_row_may_have_one_attribute(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    single = answers.assign(attribute_ids=448)
    trial_v1.refuses(single, "read as numbers")
    assert 0 < trial.grade(single) < 1


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    attributes = pd.read_csv(trial.public / "labels.csv")["attribute_id"].astype(str).tolist()
    for _ in range(200):
        given = [[id for id in attributes if rng.random() < 0.3] for _ in range(len(answers))]
        counts = dict.fromkeys([(False, False), (False, True), (True, False), (True, True)], 0)
        for row, cell in zip(given, answers["attribute_ids"], strict=True):
            for id in attributes:
                counts[id in cell.split(), id in row] += 1
        score = 2 * counts[True, True] / (2 * counts[True, True] + counts[False, True] + counts[True, False])
        frame = answers.assign(attribute_ids=[" ".join(row) for row in given]).sample(frac=1, random_state=1)
        assert abs(trial.competition.grade(frame, trial.private) - score) < 1e-9
