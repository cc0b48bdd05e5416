"""Lyft 3D: a map with the wrong logs, and boxes that nobody can build."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import (
    _at_most,
    _exact_overlaps,
    _over_union,
    _overlaps,
    _shared_area,
    mean_average_precision,
)
from mlecore_testing import Trial

from mlecore import InvalidSubmission
from mlecore.submissions.cells import Word
from mlecore.submissions.records import decode_records

KINDS: tuple[Word, ...] = (*["number"] * 8, "text")
CAR = (1.0, 10.0, 20.0, 0.0, 2.0, 4.0, 2.0, 0.3, "car")


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / f"{name}.json").read_text())
    return found


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


def test_both_maps_list_the_test_logs(trial: Trial) -> None:
    logs = {log["token"] for log in records(trial.public / "test_data", "log")}
    for folder in ("train_data", "test_data"):
        (record,) = records(trial.public / folder, "map")
        assert set(record["log_tokens"]) == logs and next(iter(record)) == "log_tokens"


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


def test_overlaps_and_their_bound() -> None:
    rng = np.random.RandomState(0)
    low, high = (-2, -2, -1, 0.5, 0.5, 0.5, -4), (2, 2, 1, 5, 5, 3, 4)
    one, other = rng.uniform(low, high, (2000, 7)), rng.uniform(low, high, (2000, 7))
    overlaps = _overlaps(one, other, np.arange(2000))
    assert (overlaps <= _at_most(one, other) + 1e-12).all() and (overlaps > 0.2).sum() > 100
    square = np.array([[0.0, 0, 0, 2, 2, 2, 0]])
    turned = np.array([[0.0, 0, 0, 2, 2, 2, math.pi / 4]])
    octagon = 8 * (math.sqrt(2) - 1)
    assert _overlaps(square, turned, np.zeros(1, dtype=int))[0] == pytest.approx(octagon / (8 - octagon))


def test_shapely_decides_where_it_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are those that it gives, and it is asked about few of the boxes."""
    rng = np.random.RandomState(0)
    truths = [car(x=x, yaw=yaw) for x, yaw in zip(range(0, 40, 4), rng.uniform(-4, 4, 10), strict=True)]
    boxes = [
        car(
            confidence=rng.uniform(),
            x=rng.randint(10) * 4 + rng.choice([0, 0, 0.5, 1]),
            yaw=truths[rng.randint(10)][7],
            height=2 * rng.choice([0.5, 0.55, 0.7, 0.95, 1]),  # an overlap on a threshold, where all else is the same
        )
        for _ in range(300)
    ]
    asked: list[int] = []

    def counted(boxes: np.ndarray, truths: np.ndarray) -> np.ndarray:
        asked.append(len(boxes))
        return _exact_overlaps(boxes, truths)

    monkeypatch.setattr("mle_comp_3d_object_detection_for_autonomous_vehicles.boxes._exact_overlaps", counted)
    found = score(truths, *boxes)
    few = sum(asked)
    monkeypatch.setattr("mle_comp_3d_object_detection_for_autonomous_vehicles.boxes._CLOSE", math.inf)
    asked.clear()
    assert score(truths, *boxes) == found
    assert 0 < few < 0.5 * sum(asked)


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


def test_large_boxes_that_are_possible() -> None:
    for change in ({"length": 1e4}, {"x": 1e7}, {"length": 1e6, "yaw": 0.0}):
        assert 0 < score([CAR], CAR, car(confidence=0.5, **change)) <= 1


def test_empty_cells(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    answers.loc[0, "PredictionString"] = "  "
    answers.loc[1, "PredictionString"] = "1 1 1 1 1 1 1 nan "  # a class without a name
    assert trial.grade(answers) == pytest.approx(1 - 2 / len(answers))
    answers.loc[1, "PredictionString"] = "1 1 1 1 1 1 1 inf no_class"
    trial.refuses(answers, "yaw must be finite")
