"""VinBigData: a metric that numbers from 0 and takes corners for sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import pytest
from mle_comp_vinbigdata_chest_xray_abnormalities_detection.coco import mean_average_precision

from mlecore_toolkit.submissions.records import decode_records

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
