"""Average precision of boxes: by hand, and against plain loops."""

import time

import numpy as np
import pytest

from mlecore.metrics import average_precision, right_boxes

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


def by_loops(boxes, truths, iou):
    out, taken = [], set()
    for row, _, (a, b, c, d) in sorted(boxes, key=lambda box: -box[1]):
        best, found = iou, None
        for number, (truth_row, (e, f, g, h)) in enumerate(truths):
            if truth_row == row:
                shared = max(0, min(c, g) - max(a, e)) * max(0, min(d, h) - max(b, f))
                overlap = shared / ((c - a) * (d - b) + (g - e) * (h - f) - shared)
                if overlap > best:
                    best, found = overlap, number
        out.append(found is not None and found not in taken)
        taken.add(found)
    return out


def test_as_plain_loops():
    rng = np.random.default_rng(0)

    def some(count):
        corners = rng.integers(0, 12, (count, 2))
        return np.hstack([corners, corners + rng.integers(1, 8, (count, 2))]).tolist()

    for _ in range(100):
        truths = [(int(rng.integers(4)), box) for box in some(8)]
        boxes = [(int(rng.integers(5)), rng.integers(5) / 4, box) for box in some(30)]
        assert right(boxes, truths, 0.3) == by_loops(boxes, truths, 0.3)


def test_many_boxes_take_no_more_than_seconds():
    begun = time.process_time()
    assert sum(right([(0, 0.9, BOX)] * 250_000, [(0, BOX)] * 3)) == 1
    assert time.process_time() - begun < 5
