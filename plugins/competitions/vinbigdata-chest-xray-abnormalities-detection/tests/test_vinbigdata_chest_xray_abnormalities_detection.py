"""VinBigData: the first annotation is the truth, and a metric that numbers from 0 and takes corners for sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from mle_comp_vinbigdata_chest_xray_abnormalities_detection.coco import IOU, _match, _overlaps, mean_average_precision
from mlecore_testing import Trial

from mlecore.submissions.records import decode_records

pytestmark = pytest.mark.trial(size=0.2)
Row = tuple[object, ...]
BOX = ["x_min", "y_min", "x_max", "y_max"]


def _cell(records: Sequence[Row]) -> str:
    return " ".join(str(word) for record in records for word in record)


def score(truths: Sequence[Row], *cells: Sequence[Row]) -> float:
    """Truths are image, class and box; there is a cell of records for each image from "a" on."""
    answers = pd.DataFrame(truths, columns=["image_id", "class_id", *BOX])
    predictions = pd.DataFrame({"image_id": list("abcdef")[: len(cells)]})
    predictions["PredictionString"] = decode_records(predictions, map(_cell, cells), ("number",) * 6)
    return mean_average_precision(answers, predictions)


def test_the_truth_is_the_first_annotation_of_a_class(trial: Trial, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    assert not answers.duplicated(["image_id", "class_id"]).any()
    assert answers["image_id"].is_monotonic_increasing
    for _, row in answers[answers["class_id"] != 14].iterrows():
        same = raw[(raw["image_id"] == row["image_id"]) & (raw["class_id"] == row["class_id"])]
        assert same[BOX].iloc[0].tolist() == row[BOX].tolist()
    healthy = answers[answers["class_id"] == 14]
    assert len(healthy) and (healthy[BOX] == [0, 0, 1, 1]).all(axis=None)


HIT, MISS = (1, 0.9, 10, 10, 20, 20), (1, 0.9, 500, 500, 1, 1)
TRUTHS = [("a", 0, 10, 10, 20, 20), ("a", 1, 10, 10, 20, 20), ("b", 1, 10, 10, 20, 20)]


def test_the_number_0_is_none() -> None:
    first, unknown = (0, 1.0, 10, 10, 20, 20), (99, 1.0, 0, 0, 1, 1)
    assert score(TRUTHS, [unknown, HIT], [HIT]) == 0.5  # class 0 is missed
    assert score(TRUTHS, [unknown, first, HIT], [HIT]) == 0.5  # and so it is if its box, of number 0, is found
    both = score(TRUTHS, [HIT, HIT], [MISS])  # detection 0 leaves the box free: two hits, and recall 1 with one truth
    assert both == pytest.approx(0.5)
    assert score(TRUTHS, [unknown, HIT, HIT], [MISS]) == pytest.approx(0.5 * 51 / 101)


def test_corners_are_taken_for_sizes() -> None:
    assert score(TRUTHS, [HIT], [(1, 0.9, 14, 14, 20, 20)]) == 0.5  # 10..30 and 14..34: 256 / 544
    assert score(TRUTHS, [HIT], [(1, 0.9, 15, 15, 20, 20)]) < 0.5


def test_odd_numbers() -> None:
    nan, inf = math.nan, math.inf
    assert score(TRUTHS, [HIT], [(1, nan, 10, 10, 20, 20)]) == 0.5
    assert score(TRUTHS, [HIT], [(1, 0.9, 10, 10, nan, 20)]) == 0.5  # an overlap that is NaN is a hit
    assert score(TRUTHS, [HIT], [(1, 0.9, nan, nan, 20, 20)]) == 0.5
    assert score(TRUTHS, [HIT], [(1, 0.9, inf, 10, 20, 20)]) < 0.5
    ignored = (1, 0.95, 50, 0, 10, 10)  # of negative area: no false positive
    assert score(TRUTHS, [HIT, ignored], [ignored, HIT]) == 0.5
    assert score(TRUTHS, [HIT, (*MISS[:1], 0.95, 50, 50, 60, 60)], [HIT]) < 0.5


def test_a_hundred_detections_count() -> None:
    many = [(1, 0.5, 500, 500, 600, 600)] * 100
    assert score(TRUTHS, [(99, 1, 0, 0, 1, 1), *many, (1, 0.4, 10, 10, 20, 20)], []) == 0
    assert score(TRUTHS, [(99, 1, 0, 0, 1, 1), *many[1:], (1, 0.4, 10, 10, 20, 20)], []) > 0
    assert score(TRUTHS, [], []) == 0


def test_groups_matched_at_once_are_those_matched_one_by_one() -> None:
    rng = np.random.default_rng(0)
    hits = ignorable = 0
    for _ in range(60):
        groups, truth_groups = np.sort(rng.integers(0, 4, 40)), rng.integers(0, 4, 12)
        boxes, truths = (
            rng.choice([1.0, 2, 3, 5, math.nan], (count, 4), p=[0.3, 0.3, 0.2, 0.15, 0.05]) for count in (40, 12)
        )
        numbers, ignored = rng.permutation(40), rng.random(12) < 0.3
        found = _match(numbers, groups, boxes, truth_groups, truths, ignored)
        taken: set[int] = set()
        for place, number in enumerate(numbers.tolist()):
            best, chosen = IOU, -1
            mine = np.flatnonzero(truth_groups == groups[place])
            for truth in mine[np.argsort(ignored[mine], kind="stable")].tolist():
                if truth in taken or (chosen >= 0 and ignored[truth] and not ignored[chosen]):
                    continue
                overlap = float(_overlaps(boxes[[number]], truths[[truth]])[0])
                if not overlap < best:
                    best, chosen = overlap, truth
            if chosen >= 0 and number:
                taken.add(chosen)
            assert found[0][place] == (chosen > 0 and not ignored[chosen])
            assert found[1][place] == (chosen >= 0 and ignored[chosen])
        hits, ignorable = hits + int(found[0].sum()), ignorable + int(found[1].sum())
    assert hits > 100 and ignorable > 20


def test_rows_of_one_image_are_pooled(trial: Trial, perfect: pd.DataFrame) -> None:
    assert trial.grade(pd.concat([perfect, perfect.iloc[:3]])) < trial.grade(perfect) <= 1
