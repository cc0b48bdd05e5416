"""VinBigData, edition v2: boxes are compared by their corners."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mle_comp_vinbigdata_chest_xray_abnormalities_detection.v2 import mean_average_precision
from mlecore_testing import Trial

from mlecore.submissions.records import decode_records

pytestmark = pytest.mark.trial(size=0.2, edition="v2")
BOX = ["x_min", "y_min", "x_max", "y_max"]
Box = tuple[float, ...]  # class, confidence, corners


def score(answers: pd.DataFrame, cells: dict[str, list[Box]]) -> float:
    texts = [" ".join(str(word) for box in boxes for word in box) for boxes in cells.values()]
    return mean_average_precision(answers, list(cells), decode_records(answers, texts, ("number",) * 6))


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


@pytest.mark.parametrize("record", ["15 1 0 0 1 1", "-1 1 0 0 1 1", "3.5 1 0 0 1 1", "3 nan 0 0 1 1", "3 1 0 0 inf 1"])
def test_impossible_records_are_invalid(trial: Trial, perfect: pd.DataFrame, record: str) -> None:
    cells = perfect["PredictionString"].tolist()
    trial.refuses(perfect.assign(PredictionString=[f"{cells[0]} {record}", *cells[1:]]), "image_id .*found '")


def test_each_image_has_one_row(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    twice = pd.concat([perfect, perfect.head(1)])
    assert trial_v1.grade(twice) < 1
    trial.refuses(twice, "repeated")


def test_it_agrees_with_the_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        truths, cells = [], {}
        for image in "abcdef":
            truths += [(image, kind, *_box(rng)) for kind in range(3) if rng.random() < 0.7 or image == "a"]
            near = [(kind, *box) for name, kind, *box in truths if name == image]
            guesses = [
                near[rng.integers(len(near))] if near and rng.random() < 0.5 else (rng.integers(4), *_box(rng))
                for _ in range(rng.integers(1, 6))
            ]
            cells[image] = [(float(kind), rng.integers(20) / 20, *map(float, box)) for kind, *box in guesses]
        answers = pd.DataFrame(truths, columns=["image_id", "class_id", *BOX])
        assert abs(score(answers, cells) - _by_definition(truths, cells)) < 1e-9


def _box(rng: np.random.Generator) -> list[float]:
    x, y = rng.integers(0, 10, 2).tolist()
    return [x, y, x + int(rng.integers(1, 8)), y + int(rng.integers(1, 8))]


def _by_definition(truths: list[tuple], cells: dict[str, list[Box]]) -> float:
    scores = []
    for kind in sorted({truth[1] for truth in truths}):
        mine = {image: box for image, other, *box in truths if other == kind}
        boxes = [(c, image, corners) for image in cells for k, c, *corners in cells[image] if k == kind]
        curve, hits, taken = [], 0, set()
        for count, (_, image, box) in enumerate(sorted(boxes, key=lambda box: -box[0]), 1):
            if image in mine and image not in taken and _overlap(box, mine[image]) > 0.4:
                taken.add(image)
                hits += 1
            curve.append((hits, hits / count))
        highest = [max((p for h, p in curve if h >= hit), default=0) for hit in range(1, len(mine) + 1)]
        scores.append(sum(highest) / len(mine))
    return sum(scores) / len(scores)


def _overlap(one: list[float], other: list[float]) -> float:
    width = max(0, min(one[2], other[2]) - max(one[0], other[0]))
    height = max(0, min(one[3], other[3]) - max(one[1], other[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return width * height / (sum(areas) - width * height)
