"""Google QUEST: everything that can be ranked."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from mle_comp_google_quest_challenge import RARE, TARGETS

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_what_makes_no_difference(trial: Trial, answers: pd.DataFrame) -> None:
    far = answers.assign(qa_id=answers["qa_id"].rank() - 1e6).iloc[::-1]  # ids are sorted, not compared
    assert math.isclose(trial.grade(far), 1)
    assert math.isclose(trial.grade(answers.assign(**{RARE: np.where(answers[RARE] > 0, np.inf, -np.inf)})), 1)
    assert math.isclose(trial.grade(answers.assign(**{RARE: np.where(answers[RARE] > 0, "b", "a")})), 1)


def test_text_is_ranked_as_text(trial: Trial, answers: pd.DataFrame) -> None:
    target = TARGETS[0]
    tens = answers.assign(**{target: (answers[target] * 12).round().astype(int)})
    words = tens.astype({target: object})
    words.loc[0, target] = "word"
    assert trial.grade(words) < trial.grade(tens) - 1e-3  # 10 comes before 2


def test_one_long_text_takes_its_own_room_only(trial: Trial, answers: pd.DataFrame) -> None:
    """Not that of a table in which every text is as long: 27 GB for one of 60 MB."""
    words = answers.astype({TARGETS[0]: object})
    words.loc[0, TARGETS[0]] = "x" * 10**6
    tracemalloc.start()
    assert trial.grade(words) < 1
    assert tracemalloc.get_traced_memory()[1] < 30e6
    tracemalloc.stop()


@pytest.mark.parametrize("cells", ["0.5", ""])
def test_undefined_and_valid(trial: Trial, answers: pd.DataFrame, cells: str) -> None:
    assert math.isnan(trial.grade(answers.assign(answer_helpful=cells)))
    comma_at_the_end = answers.to_csv(index=False).replace("\n", ",\n").replace(",\n", "\n", 1)
    assert math.isnan(trial.grade(comma_at_the_end))
