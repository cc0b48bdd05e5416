"""The metric: a mean over labels of the average precision, which counts what is missed and rows without the label.

Not that of PASCAL VOC: a missed box is a positive of score 0, and a row without the label a negative of score 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.metrics.detection import in_rows
from mlecore_toolkit.submissions.messages import row_name
from mlecore_toolkit.submissions.records import Records, flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

IOU = 0.5  # must be exceeded


def mean_average_precision(asked: Iterable[Records], predictions: DataFrame) -> float:
    """The plain mean over the labels of the answers; 0 without any.

    ``asked`` are the answers' records (label, confidence, xmin, ymin, xmax, ymax), row by row like ``predictions``.
    Raises InvalidSubmission for a confidence of such a label that is not finite.
    """
    known = labels_of(asked)
    truths, given = Boxes(asked, known), Boxes(predictions["PredictionString"], known)
    if len(bad := np.flatnonzero((given.label >= 0) & ~np.isfinite(given.confidence))):
        row = row_name(predictions, int(given.rows[bad[0]]))
        raise InvalidSubmission(f"{row}: confidences must be finite; found {given.confidence[bad[0]]}")
    count = len(predictions)
    scores = [_of_label(truths.only(place), given.only(place), count, label) for place, label in enumerate(known)]
    return sum(scores) / len(scores) if scores else 0.0


def labels_of(cells: Iterable[Records]) -> list[str]:
    """In order."""
    return sorted(set(flatten(cells)[1].words[0]))


class Boxes:
    """Records one below the other: ``rows``, ``confidence``, ``corners`` (records x 4), and ``label``: its place among
    those that are known, or -1."""

    def __init__(self, cells: Iterable[Records], known: Sequence[str]) -> None:
        import pandas as pd

        self.rows, found = flatten(cells)
        labels, self.confidence, *corners = found.words
        self.label = pd.Index(known, dtype=object).get_indexer(labels)
        self.corners = np.column_stack(corners)

    def only(self, label: int) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Rows, confidences and corners of one label; within a row by falling confidence, as given where it ties."""
        mine = np.flatnonzero(self.label == label)
        mine = mine[np.lexsort((-self.confidence[mine], self.rows[mine]))]
        return self.rows[mine], self.confidence[mine], self.corners[mine]


def _of_label(truths: tuple[Any, ...], given: tuple[Any, ...], count: int, label: str) -> float:
    """Average precision of one label, whose boxes are rows, confidences and corners, over ``count`` rows."""
    truth_rows, _, truth_corners = truths
    rows, confidence, corners = given
    hit = _hits(rows, corners, truth_rows, truth_corners)
    missed = len(truth_rows) - int(hit.sum())
    has = np.zeros(count, dtype=bool)
    has[rows] = has[truth_rows] = True
    without = count - int(has.sum())
    true = np.concatenate([hit, np.ones(missed, dtype=bool), np.zeros(without, dtype=bool)])
    if true.all():
        raise InvalidSubmission(f"every row has the label {label}, and every box of it is right: no score is defined")
    return average_precision(true, np.concatenate([confidence, np.zeros(missed + without)]))


def _hits(
    rows: NDArray[np.intp],
    corners: NDArray[np.float64],
    truth_rows: NDArray[np.intp],
    truth_corners: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which boxes (in order) take a truth of their row: the free one of most overlap, the first at a tie."""
    enough = []  # (box, -overlap, truth)
    for truth, mine in enumerate(in_rows(rows, truth_rows)):
        overlaps = _overlaps(corners[mine], truth_corners[[truth]])
        enough += [(box, -overlaps[place], truth) for place, box in enumerate(mine.tolist()) if overlaps[place] > IOU]
    hit, taken = np.zeros(len(rows), dtype=bool), set[int]()
    for box, _, truth in sorted(enough):
        if not hit[box] and truth not in taken:
            hit[box] = True
            taken.add(truth)
    return hit


def _overlaps(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union of pairs; 0 where a corner is not finite or the union is not above 0."""
    with np.errstate(all="ignore"):
        sides = np.minimum(one[:, 2:], other[:, 2:]) - np.maximum(one[:, :2], other[:, :2])
        shared = np.maximum(sides, 0).prod(axis=-1)
        union = (one[:, 2:] - one[:, :2]).prod(axis=-1) + (other[:, 2:] - other[:, :2]).prod(axis=-1) - shared
        overlap = shared / union
    bounded = np.isfinite(one).all(axis=-1) & np.isfinite(other).all(axis=-1)
    return np.where(bounded & (union > 0) & ~np.isnan(overlap), overlap, 0.0)


def average_precision(true: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """The sum of (R_n - R_{n-1}) P_n over the distinct scores, falling; as scikit-learn's average_precision_score."""
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True])  # of each score
    hits = np.cumsum(true[order])[last]
    return float((np.diff(hits, prepend=0) / hits[-1] * (hits / (last + 1))).sum())
