"""The metric: a mean over labels of the average precision, which counts what is missed and rows without the label.

Not that of PASCAL VOC: a missed box is a positive of score 0, and a row without the label a negative of score 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore.submissions.messages import row_name
from mlecore.submissions.records import Records, flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

IOU = 0.5  # must be exceeded
_AT_ONCE = 100_000  # boxes in memory beside each truth


def mean_average_precision(asked: Sequence[Records], predictions: DataFrame) -> float:
    """The plain mean over the labels of the answers; 0 without any.

    ``asked`` are the answers' records (label, confidence, xmin, ymin, xmax, ymax), row by row like ``predictions``.
    Raises InvalidSubmission for a confidence of such a label that is not finite.
    """
    truths, given = Boxes(asked), Boxes(predictions["PredictionString"].tolist())
    known = sorted(set(truths.labels))
    of_label = np.isin(given.labels, known)
    if len(bad := np.flatnonzero(of_label & ~np.isfinite(given.confidence))):
        row = row_name(predictions, int(given.rows[bad[0]]))
        raise InvalidSubmission(f"{row}: confidences must be finite; found {given.confidence[bad[0]]}")
    scores = [_of_label(truths.only(label), given.only(label), len(asked), label) for label in known]
    return sum(scores) / len(scores) if scores else 0.0


class Boxes:
    """Records one below the other: ``rows``, ``labels``, ``confidence`` and ``corners`` (records x 4)."""

    def __init__(self, cells: Sequence[Records]) -> None:
        self.rows, (self.labels, self.confidence, *corners) = flatten(cells, 6)
        self.corners = np.column_stack(corners)

    def only(self, label: str) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Rows, confidences and corners of one label; within a row by falling confidence, as given where it ties."""
        mine = np.flatnonzero(self.labels == label)
        mine = mine[np.lexsort((-self.confidence[mine], self.rows[mine]))]
        return self.rows[mine], self.confidence[mine], self.corners[mine]


def _of_label(truths: tuple[Any, ...], given: tuple[Any, ...], count: int, label: str) -> float:
    """Average precision of one label, whose boxes are rows, confidences and corners, over ``count`` rows."""
    truth_rows, _, truth_corners = truths
    rows, confidence, corners = given
    hit = np.zeros(len(rows), dtype=bool)
    for row in np.intersect1d(rows, truth_rows):
        mine = slice(*np.searchsorted(rows, [row, row + 1]))
        theirs = slice(*np.searchsorted(truth_rows, [row, row + 1]))
        hit[mine] = _match(corners[mine], truth_corners[theirs])
    missed = len(truth_rows) - int(hit.sum())
    without = count - len(np.union1d(rows, truth_rows))
    true = np.concatenate([hit, np.ones(missed, dtype=bool), np.zeros(without, dtype=bool)])
    if true.all():
        raise InvalidSubmission(f"every row has the label {label}, and every box of it is right: no score is defined")
    return average_precision(true, np.concatenate([confidence, np.zeros(missed + without)]))


def _match(boxes: NDArray[np.float64], truths: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which boxes of a row (in order) take a truth: the free one of most overlap, the first at a tie."""
    hit = np.zeros(len(boxes), dtype=bool)
    free = np.ones(len(truths), dtype=bool)
    for start in range(0, len(boxes), _AT_ONCE):
        overlaps = np.where(free, _overlaps(boxes[start : start + _AT_ONCE], truths), -math.inf)
        box = 0
        while free.any() and (enough := (overlaps[box:] > IOU).any(axis=1)).any():
            box += int(enough.argmax())
            best = overlaps[box].argmax()
            hit[start + box], free[best], overlaps[:, best] = True, False, -math.inf
            box += 1
    return hit


def _overlaps(boxes: NDArray[np.float64], truths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union (boxes x truths); 0 where a corner is not finite or the union is not above 0."""
    one, other = boxes[:, None], truths[None]
    with np.errstate(all="ignore"):
        sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
        shared = np.maximum(sides, 0).prod(axis=-1)
        union = (one[..., 2:] - one[..., :2]).prod(axis=-1) + (other[..., 2:] - other[..., :2]).prod(axis=-1) - shared
        overlap = shared / union
    bounded = np.isfinite(one).all(axis=-1) & np.isfinite(other).all(axis=-1)
    return np.where(bounded & (union > 0) & ~np.isnan(overlap), overlap, 0.0)


def average_precision(true: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """The sum of (R_n - R_{n-1}) P_n over the distinct scores, falling; as scikit-learn's average_precision_score."""
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True])  # of each score
    hits = np.cumsum(true[order])[last]
    return float((np.diff(hits, prepend=0) / hits[-1] * (hits / (last + 1))).sum())
