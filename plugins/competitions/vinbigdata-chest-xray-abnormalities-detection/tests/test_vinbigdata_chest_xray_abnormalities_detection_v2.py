"""VinBigData, edition v2: boxes are compared by their corners."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2, edition="v2")
BOX = ["x_min", "y_min", "x_max", "y_max"]


def test_the_answers_score_1(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    assert trial_v1.grade(perfect) < 1
    assert trial.grade(perfect) == pytest.approx(1, abs=1e-12)


def test_a_box_far_from_the_truth_is_wrong(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame([("a", 14, 0, 0, 1, 1), ("b", 3, 900, 900, 910, 910)], columns=["image_id", "class_id", *BOX])
    given = pd.DataFrame({"image_id": ["a", "b"], "PredictionString": ["14 1 0 0 1 1", "3 1 940 940 950 950"]})
    extra = given.assign(PredictionString=["9 0 0 0 1 1 14 1 0 0 1 1", "3 1 940 940 950 950"])  # numbers 0 are none
    assert trial_v1.grade(extra, truth) == pytest.approx(0.5)
    assert trial.grade(given, truth) == pytest.approx(0.5)
    near = given.assign(PredictionString=["14 1 0 0 1 1", "3 1 902 902 910 910"])
    assert trial.grade(near, truth) == pytest.approx(1)


def test_precision_between_hits_is_that_of_the_next_hit(trial: Trial) -> None:
    truth = pd.DataFrame([("a", 3, 0, 0, 9, 9), ("b", 3, 0, 0, 9, 9)], columns=["image_id", "class_id", *BOX])
    given = pd.DataFrame(
        {"image_id": ["a", "b"], "PredictionString": ["3 0.9 0 0 9 9 3 0.8 50 50 60 60", "3 0.7 0 0 9 9"]}
    )
    assert trial.grade(given, truth) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("record", ["15 1 0 0 1 1", "-1 1 0 0 1 1", "3.5 1 0 0 1 1", "3 nan 0 0 1 1", "3 1 0 0 inf 1"])
def test_impossible_records_are_invalid(trial: Trial, perfect: pd.DataFrame, record: str) -> None:
    cells = perfect["PredictionString"].tolist()
    trial.refuses(perfect.assign(PredictionString=[f"{cells[0]} {record}", *cells[1:]]), "image_id .*found '")


def test_each_image_has_one_row(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    twice = pd.concat([perfect, perfect.head(1)])
    assert trial_v1.grade(twice) < 1
    trial.refuses(twice, "repeated")
