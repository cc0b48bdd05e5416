"""Average precision of boxes, by hand."""

import time

import numpy as np
import pytest

from mlecore_toolkit import average_precision, right_boxes

BOX = [0.0, 0.0, 10.0, 10.0]


def right(boxes, truths, iou=0.5):
    """Boxes are (row, confidence, corners), truths (row, corners)."""
    rows, confidence, corners = (list(words) for words in zip(*boxes, strict=True))
    truth_rows, truth_corners = (list(words) for words in zip(*truths, strict=True))
    found = right_boxes(
        np.array(rows), np.array(confidence, dtype=float), np.array(corners, dtype=float),
        np.array(truth_rows), np.array(truth_corners, dtype=float), iou=iou,
    )  # fmt: skip
    return found.tolist()


def test_right_boxes():
    assert right([(0, 0.5, BOX), (1, 0.9, BOX)], [(0, BOX)]) == [False, True]  # by falling confidence
    assert right([(0, 0.5, BOX), (0, 0.5, BOX)], [(0, BOX)]) == [True, False]
    assert right([(0, 1, [0, 0, 10, 5])], [(0, BOX)]) == [False]  # exactly a half
    assert right([(0, 1, [10, 10, 0, 0])], [(0, BOX)]) == [False]  # corners exchanged
    assert right([(0, 1, [5, 5, 5, 5])], [(0, [5, 5, 5, 5])]) == [False]  # without an area
    near = [(0, BOX), (0, [0, 0, 10, 12])]
    assert right([(0, 0.9, BOX), (0, 0.8, BOX), (0, 0.7, [0, 0, 10, 12])], near) == [True, False, True]
    assert right([(0, 1, [-1e300, -1e300, 1e300, 1e300])], [(0, BOX)]) == [False]


def test_average_precision():
    assert average_precision(np.array([True, True]), 2) == 1
    assert average_precision(np.array([True, False, True]), 4) == pytest.approx((1 + 2 / 3) / 4)
    assert average_precision(np.array([False, True, True]), 2) == pytest.approx(2 / 3)  # the highest beyond
    assert average_precision(np.zeros(0, dtype=bool), 3) == 0


def test_many_boxes_take_no_more_than_seconds():
    begun = time.process_time()
    assert sum(right([(0, 0.9, BOX)] * 250_000, [(0, BOX)] * 3)) == 1
    assert time.process_time() - begun < 5
