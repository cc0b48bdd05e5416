"""Volcanic eruptions: scores are whole numbers, and repeated segments count again."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)

TARGET = "time_to_eruption"


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    assert [len(train), len(answers)] == [27, 3]
    assert not train["segment_id"].is_monotonic_increasing
    for part, folder in ((train, "train"), (answers, "test")):
        assert {path.stem for path in (trial.public / folder).iterdir()} == set(part["segment_id"].astype(str))


@pytest.mark.parametrize(("off", "score"), [(1.5, 0), (4.5, 2), (4.6, 2), (7.5, 2), (7.6, 3)])
def test_scores_are_rounded_halves_to_even(trial: Trial, answers: pd.DataFrame, off: float, score: int) -> None:
    answers[TARGET] = answers[TARGET].astype(float)
    answers.loc[1, TARGET] += off
    assert trial.grade(answers.iloc[::-1]) == score


def test_repeated_segments_count_again(trial: Trial, answers: pd.DataFrame) -> None:
    answers.loc[0, TARGET] += 100
    assert trial.grade(answers) == 33
    twice = pd.concat([answers, answers.head(1)]).astype({"segment_id": float})
    assert trial.grade(twice) == 50
    assert any("more than once" in warning for warning in trial.check(twice))
    with pytest.raises(InvalidSubmission, match="lacks 1 segment_id"):
        trial.grade(pd.concat([answers.head(2), answers.head(1)]))


def test_what_counts_as_a_number(trial: Trial, answers: pd.DataFrame) -> None:
    truth = answers[TARGET].mean()
    assert trial.grade(answers.assign(**{TARGET: "1_0"})) == round(truth - 10)
    assert trial.grade(answers.assign(**{TARGET: True})) == round(truth - 1)
    for value in ("", "inf", "1e400", "soon"):
        with pytest.raises(InvalidSubmission, match="must hold finite numbers"):
            trial.grade(answers.assign(**{TARGET: [value, *answers[TARGET][1:]]}))
    with pytest.raises(InvalidSubmission, match="too large"):
        trial.grade(answers.assign(**{TARGET: 1.7e308}))
