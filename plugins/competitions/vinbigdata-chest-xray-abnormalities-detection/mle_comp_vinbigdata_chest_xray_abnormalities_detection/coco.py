"""Average precision as pycocotools' COCOeval computes it, with the quirks that the published scores have.

Boxes go as (x_min, y_min, x_max, y_max) into a formula that takes them as left, top, width and height, and annotations
are numbered from 0 though COCOeval reads the number 0 as "none". So a perfect submission does not score 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlecore_toolkit.submissions.records import flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

IOU = 0.4
MOST = 100  # detections of one class in one image that count
AREAS = (0.0, 1e10)  # others are ignored
LEVELS = np.linspace(0, 1, 101)  # of recall

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.intp]"
Flags: TypeAlias = "NDArray[np.bool_]"


def mean_average_precision(answers: DataFrame, predictions: DataFrame) -> float:
    """The mean over classes; -1 where no class is left.

    ``answers``: a row a box (image_id, class_id and the corners). ``predictions``: a row an image, perhaps repeated,
    with the records (class, confidence, corners) of PredictionString.
    """
    import pandas as pd

    codes, names = pd.factorize(np.concatenate([answers["image_id"], predictions["image_id"]]))
    image, images = codes[: len(answers)], len(names)
    classes, kind = np.unique(answers["class_id"].to_numpy(), return_inverse=True)
    truths = np.argsort(image, kind="stable")  # in the order of their numbers
    truth_class, truth_group = kind[truths], (kind * images + image)[truths]
    truth_box = answers[["x_min", "y_min", "x_max", "y_max"]].to_numpy(dtype=np.float64)[truths]
    truth_ignored = _outside(truth_box)

    rows, found = flatten(predictions["PredictionString"])
    kinds, confidence, *corners = found.words
    of_class = np.searchsorted(classes, kinds).clip(max=len(classes) - 1)
    of_group = of_class * images + codes[len(answers) :][rows]
    falling = -confidence
    box = np.column_stack(corners)

    number = np.lexsort((falling, of_group))  # stable, NaN last
    number = number[(classes[of_class] == kinds)[number]]
    number = number[rank(of_group[number]) < MOST]
    group = of_group[number]
    matched, ignored = _match(number, group, box, truth_group, truth_box, truth_ignored)
    ignored |= ~matched & _outside(box[number])

    precisions = []
    for code in range(len(classes)):
        expected = int((~truth_ignored[truth_class == code]).sum())
        if expected:
            mine = slice(*np.searchsorted(group, [code * images, (code + 1) * images]))
            order = np.argsort(falling[number[mine]], kind="stable")
            kept = order[~ignored[mine][order]]
            precisions.append(average_precision(matched[mine][kept], expected))
    return float(np.mean(precisions)) if precisions else -1.0


def _match(
    numbers: Integers,
    groups: Integers,
    boxes: Floats,
    truth_groups: Integers,
    truth_boxes: Floats,
    truth_ignored: Flags,
) -> tuple[Flags, Flags]:
    """Which detections hit a truth of their group (a class in an image), and which are ignored.

    ``numbers`` of detections go by group and by falling confidence, with their ``groups`` beside them. A detection
    takes the free truth of the largest overlap, the last at a tie, one that is ignored only if there is no other.

    All groups go at once: first the best detection of each looks at the first truth of its group, at the second one and
    so on, then the second detection of each group, and so on.
    """
    by_group = np.lexsort((truth_ignored, truth_groups))
    kinds, first_truth, truths = np.unique(truth_groups[by_group], return_index=True, return_counts=True)
    first, last = (np.searchsorted(groups, kinds, side=side) for side in ("left", "right"))
    matched, ignored = np.zeros(len(numbers), dtype=bool), np.zeros(len(numbers), dtype=bool)
    taken = np.zeros(len(truth_boxes), dtype=bool)
    for _ in range(int((last - first).max(initial=0))):
        left = first < last
        first, last, first_truth, truths = first[left], last[left], first_truth[left], truths[left]
        detections = numbers[first]
        best, found = np.full(len(first), IOU), np.full(len(first), -1)
        for place in range(int(truths.max())):
            here = np.flatnonzero(truths > place)
            truth, known = by_group[first_truth[here] + place], found[here]
            overlap = _overlaps(boxes[detections[here]], truth_boxes[truth])
            worse = (overlap < best[here]) | ((known >= 0) & ~truth_ignored[known] & truth_ignored[truth])
            better = ~(taken[truth] | worse)  # so NaN is
            best[here[better]], found[here[better]] = overlap[better], truth[better]
        hit = found >= 0
        found = found[hit]
        taken[found] = detections[hit] != 0  # number 0 reads as "not taken"
        ignored[first[hit]] = truth_ignored[found]
        matched[first[hit]] = (found != 0) & ~truth_ignored[found]  # and number 0 as "no match"
        first = first + 1
    return matched, ignored


def _overlaps(boxes: Floats, truths: Floats) -> Floats:
    """Intersection over union of pairs of boxes taken as left, top, width, height, as pycocotools does."""
    left, top, width, height = boxes.T
    with np.errstate(all="ignore"):
        w = np.fmin(width + left, truths[:, 2] + truths[:, 0]) - np.fmax(left, truths[:, 0])
        h = np.fmin(height + top, truths[:, 3] + truths[:, 1]) - np.fmax(top, truths[:, 1])
        shared = w * h
        overlap = shared / (width * height + truths[:, 2] * truths[:, 3] - shared)
    return np.where((w <= 0) | (h <= 0), 0.0, overlap)


def _outside(boxes: Floats) -> NDArray[np.bool_]:
    """Is the area of a box outside of the range that counts? NaN is not."""
    with np.errstate(all="ignore"):
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return np.asarray((area < AREAS[0]) | (area > AREAS[1]))


def rank(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of each within its group, from 0; groups are sorted."""
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(groups) else np.zeros(0, dtype=np.intp)
    return np.arange(len(groups)) - np.repeat(starts, np.diff(np.r_[starts, len(groups)]))


def average_precision(hits: NDArray[np.bool_], expected: int) -> float:
    """The mean of the precision at 101 levels of recall; ``hits`` by falling confidence."""
    true, false = np.cumsum(hits), np.cumsum(~hits)
    recall = true / expected
    precision = true / (true + false + np.spacing(1))
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    first = np.searchsorted(recall, LEVELS, side="left")
    return float(np.append(precision, 0.0)[first].mean())
