"""Lyft 3D: matched boxes, and boxes that nobody can build."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import (
    _exact_overlaps,
    _over_union,
    _shared_area,
    mean_average_precision,
)

from mlecore import InvalidSubmission
from mlecore_testing import Trial
from mlecore_toolkit.submissions.cells import Word
from mlecore_toolkit.submissions.records import decode_records

KINDS: tuple[Word, ...] = (*["number"] * 8, "text")
CAR = (1.0, 10.0, 20.0, 0.0, 2.0, 4.0, 2.0, 0.3, "car")


def car(**changes: float) -> tuple[object, ...]:
    names = ("confidence", "x", "y", "z", "width", "length", "height", "yaw")
    return (*(changes.get(name, value) for name, value in zip(names, CAR, strict=False)), "car")


def score(truths: Sequence[tuple[object, ...]], *given: tuple[object, ...]) -> float:
    frame = pd.DataFrame(index=[0])
    asked, said = (
        decode_records(frame, [" ".join(str(word) for box in boxes for word in box)], KINDS)
        for boxes in (truths, given)
    )
    return mean_average_precision(asked, frame.assign(PredictionString=said))


def test_matching() -> None:
    assert score([CAR], CAR) == 1
    assert score([CAR], car(yaw=0.3 + math.pi)) == 1
    assert score([CAR], car(z=0.45)) == pytest.approx(0.3)  # an overlap of 1.55 / 2.45, above three thresholds
    assert score([CAR], car(z=math.inf)) == score([CAR], car(height=math.inf)) == score([CAR]) == 0
    assert score([CAR], CAR, CAR) == 1  # one more of what is there comes after it
    wrong = car(x=500.0, confidence=2.0)
    assert score([CAR], CAR, wrong) == score([CAR], wrong, CAR) == pytest.approx(0.5)
    assert score([CAR], car(x=500.0), CAR) == pytest.approx(0.5)  # ties keep their order
    assert score([CAR], CAR, (*wrong[:8], "bus")) == 1  # a class that is not there is free
    assert score([CAR, car(x=60.0)], CAR) == pytest.approx(0.5)
    assert score([CAR, (*CAR[:8], "bus")], CAR) == pytest.approx(0.5)
    assert score([CAR, CAR], CAR, CAR) == pytest.approx(0.5)  # both choose the first of two true boxes


def test_the_shared_area_is_that_of_shapely() -> None:
    rng = np.random.RandomState(1)
    truths = np.column_stack([rng.uniform(-3000, 3000, (3000, 2)), np.zeros(3000), rng.uniform(0.3, 15, (3000, 3))])
    truths = np.column_stack([truths, rng.uniform(-4, 4, 3000)])
    boxes = truths.copy()
    boxes[:, :2] += rng.normal(0, 1, (3000, 2)) * (rng.uniform(size=(3000, 1)) > 0.2)
    boxes[:, 3:6] *= rng.choice([1, 0.5, 1.3], (3000, 3))
    boxes[:, 6] += rng.choice([0, math.pi / 2, math.pi, 1e-12, -1e-9, 1e-5, 0.7], 3000)
    shared = _over_union(_shared_area(boxes, truths), boxes, truths)
    assert np.abs(shared - _exact_overlaps(boxes, truths)).max() < 1e-10


def test_a_box_repeated_many_times_takes_no_more_than_seconds() -> None:
    begun = time.process_time()
    assert 0.3 < score([CAR], *[car(x=10.1, yaw=0.8)] * 100_000, CAR) < 0.31  # above three thresholds
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    "change",
    [
        {"width": 0.0},
        {"height": -1.0},
        {"z": math.nan},
        {"length": 1e6},
        {"x": 1e9},
        {"x": math.inf},
        {"yaw": math.nan},
    ],
)
def test_impossible_boxes(change: dict[str, float]) -> None:
    with pytest.raises(InvalidSubmission, match="no box can be built"):
        score([CAR], CAR, car(**change))
    assert score([CAR], CAR, (*car(**change)[:8], "bus")) == 1


def test_empty_cells(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    answers.loc[0, "PredictionString"] = "  "
    answers.loc[1, "PredictionString"] = "1 1 1 1 1 1 1 nan "  # a class without a name
    assert trial.grade(answers) == pytest.approx(1 - 2 / len(answers))
    answers.loc[1, "PredictionString"] = "1 1 1 1 1 1 1 inf no_class"
    trial.refuses(answers, "yaw must be finite")
