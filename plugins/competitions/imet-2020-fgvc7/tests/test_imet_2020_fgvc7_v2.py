"""iMet 2020, edition v2: all attributes count."""

from __future__ import annotations

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
