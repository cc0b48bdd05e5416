"""SIIM COVID-19, edition v2: the average precision of VOC 2010."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_what_is_missed_earns_nothing(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    missed = answers.assign(PredictionString=answers["PredictionString"].replace("none 1 0 0 1 1", "opacity 0 0 0 1 1"))
    labels = answers["PredictionString"].str.split().str[0].nunique()
    assert trial_v1.grade(missed) > (labels - 1) / labels
    assert trial.grade(missed) == pytest.approx((labels - 1) / labels)


def test_right_boxes_only_are_perfect(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    after = answers.assign(PredictionString=answers["PredictionString"] + " opacity 0.5 0 0 1 1")
    assert trial.grade(after) == 1  # wrong ones that come after all right ones


def test_precision_between_hits_is_that_of_the_next_hit(trial: Trial) -> None:
    truth = pd.DataFrame({"id": ["a_image", "b_image"], "PredictionString": "opacity 1 0 0 9 9"})
    given = truth.assign(PredictionString=["opacity 0.9 0 0 9 9 opacity 0.8 50 50 60 60", "opacity 0.7 0 0 9 9"])
    assert trial.grade(given, truth) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(
    "record", ["opacities 1 0 0 1 1", "opacity nan 0 0 1 1", "opacity 1 0 0 inf 1", "Negative 1 0 0 1 1"]
)
def test_impossible_records_are_invalid(trial: Trial, answers: pd.DataFrame, record: str) -> None:
    cells = answers["PredictionString"].tolist()
    trial.refuses(answers.assign(PredictionString=[f"{cells[0]} {record}", *cells[1:]]), "labels must be .*found '")
