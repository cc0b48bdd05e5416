"""Average precision of boxes in pictures, as PASCAL VOC 2010 defines it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

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
    """Whether each box of one label is right, in order of falling confidence; ties keep their order.

    ``rows`` are the pictures of the boxes; corners (boxes x 4) are x_min, y_min, x_max, y_max. A box is right if its
    intersection over union with the truth of its picture that it overlaps most (the first of several) exceeds ``iou``,
    and no earlier box was right for that truth. All numbers are finite.
    """
    order = np.argsort(-confidence, kind="stable")
    rows, corners = rows[order], corners[order]
    most, best = np.full(len(rows), iou), np.full(len(rows), -1)  # of the truth that each box overlaps most
    for truth, mine in enumerate(in_rows(rows, truth_rows)):
        overlaps = _overlaps(corners[mine], truth_corners[truth])
        better = overlaps > most[mine]
        most[mine[better]], best[mine[better]] = overlaps[better], truth
    right = np.zeros(len(rows), dtype=bool)
    candidates = np.flatnonzero(best >= 0)
    right[candidates[np.unique(best[candidates], return_index=True)[1]]] = True
    return right


def in_rows(rows: NDArray[np.intp], asked: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """For each value of ``asked``, its positions in ``rows``, ascending."""
    order = np.argsort(rows, kind="stable")
    first, last = (np.searchsorted(rows, asked, side=side, sorter=order).tolist() for side in ("left", "right"))
    return (order[begin:end] for begin, end in zip(first, last, strict=True))


def average_precision(right: NDArray[np.bool_], truths: int) -> float:
    """The area under precision over recall, where a precision is the highest at that recall or beyond.

    ``right``: of boxes by falling confidence. See section 3.4.1 of the VOC 2010 development kit.
    """
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    highest = np.maximum.accumulate(precision[::-1])[::-1]
    return float(highest[right].sum() / truths)


def _overlaps(boxes: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union with one truth; 0 for a box without area or with swapped corners."""
    sides, others = (np.maximum(corners[..., 2:] - corners[..., :2], 0) for corners in (boxes, truth))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        shared = np.minimum(boxes[:, 2:], truth[2:]) - np.maximum(boxes[:, :2], truth[:2])
        both = np.maximum(shared, 0).prod(axis=-1)
        overlap = both / (sides.prod(axis=-1) + others.prod(axis=-1) - both)
    return np.asarray(np.nan_to_num(overlap, nan=0.0))
