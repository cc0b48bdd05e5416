"""SIIM COVID-19: boxes, ties and labels that nobody knows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import pandas as pd
import pytest
from mle_comp_siim_covid19_detection.matching import mean_average_precision

from mlecore import InvalidSubmission
from mlecore_testing import Trial
from mlecore_toolkit.submissions.cells import Word
from mlecore_toolkit.submissions.records import decode_records

KINDS: tuple[Word, ...] = ("text", *["number"] * 5)
BOX = ("opacity", 1.0, 0.0, 0.0, 10.0, 10.0)
NONE = ("none", 1.0, 0.0, 0.0, 1.0, 1.0)


def score(*cells: Sequence[tuple[object, ...]]) -> float:
    """Truth is a box, nothing, and another row of a box."""
    frame = pd.DataFrame({"PredictionString": [_text(cell) for cell in cells]})
    asked = decode_records(frame, [_text([box]) for box in (BOX, NONE, BOX)], KINDS)
    return mean_average_precision(
        asked, frame.assign(PredictionString=decode_records(frame, frame["PredictionString"], KINDS))
    )


def _text(cell: Sequence[tuple[object, ...]]) -> str:
    return " ".join(str(word) for box in cell for word in box)


def box(confidence: float, *corners: float) -> tuple[object, ...]:
    return ("opacity", confidence, *(corners or (0, 0, 10, 10)))


def test_matching() -> None:
    assert score([BOX], [NONE], [BOX]) == 1
    assert score([box(0.9, 0, 0, 10, 20)], [NONE], [BOX]) < 1  # an overlap of exactly a half
    assert score([box(0.9, 0, 0, 10, 19.9)], [NONE], [BOX]) == 1
    assert score([box(0.9), box(0.8)], [NONE], [box(0.95)]) == 1  # a second box on one truth: wrong, but after both
    assert score([box(0.9), box(0.99)], [NONE], [box(0.95)]) == pytest.approx((1 + (0.5 + 0.5 * 1)) / 2)
    assert score([box(0.9), box(0.8, 1, 1, math.nan, 9)], [NONE], [BOX]) == 1
    assert score([], [NONE], []) == pytest.approx((1 + 2 / 3) / 2)  # two missed boxes tie with a row without, at 0
    assert score([BOX], [NONE, ("opacities", math.inf, 0, 0, 1, 1)], [BOX]) == 1


def test_confidences_of_known_labels_are_finite(trial: Trial, answers: pd.DataFrame) -> None:
    odd = answers.assign(PredictionString=answers["PredictionString"] + " opacities inf 0 0 1 1")
    assert trial.grade(odd) == 1
    assert any("opacities" in warning for warning in trial.check(odd))
    with pytest.raises(InvalidSubmission, match="finite"):
        score([box(math.nan)], [NONE], [BOX])


def test_many_boxes_on_one_truth() -> None:
    begun = time.process_time()
    assert score([*[box(0.9, 0, 0, 10, 9)] * 250_000, box(0.8)], [NONE], [BOX]) < 1
    assert time.process_time() - begun < 5
