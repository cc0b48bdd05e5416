"""Average precision of boxes in pictures, as PASCAL VOC 2010 defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlecore.metrics.pairs import pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray


def right_boxes(
    rows: NDArray[np.intp],
    confidence: NDArray[np.float64],
    corners: NDArray[np.float64],
    truth_rows: NDArray[np.intp],
    truth_corners: NDArray[np.float64],
    *,
    iou: float,
) -> NDArray[np.bool_]:
    """Which boxes of one label are right, by falling confidence over all rows, as given where it ties.

    ``rows`` are the pictures of the boxes, corners (boxes x 4) are x_min, y_min, x_max, y_max. A box is right if its
    intersection over union with the truth of its picture that it overlaps most (the first at a tie) exceeds ``iou``,
    and no box before it was right for that truth. All numbers are finite.
    """
    order = np.argsort(-confidence, kind="stable")
    rows, corners = rows[order], corners[order]
    best = np.full(len(rows), -1)  # the truth that each box is enough of
    for i, j in pairs(rows, truth_rows):
        overlaps = _overlaps(corners[i], truth_corners[j])
        most = np.lexsort((-overlaps, i))  # of each box the largest first, as given where it ties
        most = most[np.r_[True, i[most][1:] != i[most][:-1]]] if len(most) else most
        enough = most[overlaps[most] > iou]
        best[i[enough]] = j[enough]
    right = np.zeros(len(rows), dtype=bool)
    candidates = np.flatnonzero(best >= 0)
    right[candidates[np.unique(best[candidates], return_index=True)[1]]] = True
    return right


def average_precision(right: NDArray[np.bool_], truths: int) -> float:
    """The area under precision over recall, the precision at a recall being the highest at that one or beyond.

    ``right``: of boxes by falling confidence. Section 3.4.1 of the VOC 2010 development kit.
    """
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    return float(highest[right].sum() / truths)


def _overlaps(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union of pairs; 0 for a box without an area, or with its corners exchanged."""
    sides, others = (np.maximum(corners[:, 2:] - corners[:, :2], 0) for corners in (one, other))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        shared = np.minimum(one[:, 2:], other[:, 2:]) - np.maximum(one[:, :2], other[:, :2])
        both = np.maximum(shared, 0).prod(axis=-1)
        overlap = both / (sides.prod(axis=-1) + others.prod(axis=-1) - both)
    return np.asarray(np.nan_to_num(overlap, nan=0.0))
