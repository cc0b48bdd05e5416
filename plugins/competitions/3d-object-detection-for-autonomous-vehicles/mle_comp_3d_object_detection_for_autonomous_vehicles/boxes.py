"""The metric: average precision of boxes in space, over classes, samples and ten thresholds of their overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.messages import row_name
from mlecore_toolkit.submissions.records import Records, flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.intp]"

THRESHOLDS = np.arange(0.5, 1.0, 0.05).round(2)  # that an overlap must exceed
_ROUNDING = 1e-9  # of a distance
_CLOSE = 1e-6  # to a threshold or another overlap: by far more than an overlap may be off without shapely
_AT_ONCE = 100_000  # pairs of boxes in memory


class Boxes:
    """Objects one below the other, each with its row and class, and boxes (objects x 7): centre, sizes, yaw."""

    def __init__(self, cells: Iterable[Records]) -> None:
        self.rows, found = flatten(cells)
        self.confidence, *numbers, self.classes = found.words
        self.box = np.column_stack(numbers)


@frozen(eq=False)
class Groups:
    """The number of each true and each given object's row and class, -1 if it has none, and the row of each number."""

    of_truth: Integers
    of_given: Integers
    rows: Integers


def mean_average_precision(asked: Iterable[Records], predictions: DataFrame) -> float:
    """The mean over samples and thresholds of the mean AP over a sample's true classes.

    ``asked`` are the true objects (confidence, centre, width, length, height, yaw, class), row by row as those of
    ``predictions``. Raises InvalidSubmission for an impossible box of a true class; others are not looked at.
    """
    truths, given = Boxes(asked), Boxes(predictions["PredictionString"])
    groups = numbered(truths, given)
    refuse_impossible(given, np.flatnonzero(groups.of_given >= 0), predictions)
    return mean_over_groups(truths, given, groups, len(predictions))


def numbered(truths: Boxes, given: Boxes) -> Groups:
    """Groups are the rows and classes of the true objects, by order of first appearance."""
    import pandas as pd

    codes = pd.factorize(np.concatenate([truths.classes, given.classes]))[0]
    classes = int(codes.max(initial=0)) + 1
    keys = np.concatenate([truths.rows, given.rows]) * classes + codes
    groups = pd.Index(pd.unique(keys[: len(truths.rows)]))
    numbers = groups.get_indexer(keys)
    return Groups(numbers[: len(truths.rows)], numbers[len(truths.rows) :], groups.to_numpy() // classes)


def mean_over_groups(truths: Boxes, given: Boxes, groups: Groups, count: int) -> float:
    """The mean over thresholds and ``count`` rows of the mean AP over the groups of a row.

    Predictions of other groups do not count.
    """
    samples, sizes = groups.rows, np.bincount(groups.of_truth, minlength=len(groups.rows))
    classes = np.bincount(samples, minlength=count)
    scores = []
    for hit, group in _hits_at_thresholds(truths, given, groups, sizes):
        averages = _average_precisions(hit, group, sizes)
        with np.errstate(invalid="ignore"):
            scores.append(np.mean(np.bincount(samples, averages, minlength=count) / classes))
    return float(np.mean(scores))


def mean_precision(truths: Boxes, given: Boxes, count: int) -> float:
    """The mean over thresholds and ``count`` rows, each with a truth, of TP / (TP + FP + FN) of all classes."""
    groups = numbered(truths, given)
    sizes = np.bincount(groups.of_truth, minlength=len(groups.rows))
    boxes = np.bincount(truths.rows, minlength=count) + np.bincount(given.rows, minlength=count)
    scores = []
    for hit, group in _hits_at_thresholds(truths, given, groups, sizes):
        right = np.bincount(groups.rows[group[hit]], minlength=count)
        scores.append(np.mean(right / (boxes - right)))
    return float(np.mean(scores))


def _hits_at_thresholds(
    truths: Boxes, given: Boxes, groups: Groups, sizes: Integers
) -> Iterator[tuple[NDArray[np.bool_], Integers]]:
    """For each threshold the hits among the boxes of the groups, group by group, and the group of each box."""
    truth_order, of_given = np.argsort(groups.of_truth, kind="stable"), groups.of_given
    order = np.lexsort((-given.confidence, of_given))  # within a group by falling confidence, as given where it ties
    order = order[of_given[order] >= 0]
    group = of_given[order]
    best, overlap = _best(given.box[order], group, truths.box[truth_order], np.r_[0, np.cumsum(sizes)])
    return ((_hits(best, overlap > threshold), group) for threshold in THRESHOLDS)


def refuse_impossible(given: Boxes, which: Integers, predictions: DataFrame) -> None:
    """Refuses NaN, sizes of 0 or less, and boxes so large or far away that rounding bends their corners."""
    for start in range(0, len(which), _AT_ONCE):
        some = given.box[which[start : start + _AT_ONCE]]
        corners = _corners(some)
        with np.errstate(invalid="ignore", over="ignore"):
            sides = np.roll(corners, -1, axis=1) - corners
            bent = ~(np.abs((sides * np.roll(sides, 1, axis=1)).sum(axis=2)) <= 1e-8)
            bad = np.isnan(some).any(axis=1) | ~(some[:, 3:6] > 0).all(axis=1) | bent.any(axis=1)
        if bad.any():
            first = int(which[start + bad.argmax()])
            words = " ".join(map(str, given.box[first].tolist()))
            row = row_name(predictions, int(given.rows[first]))
            raise InvalidSubmission(
                f"{row}: no box can be built of {words}: sizes must be above 0, and no number missing, infinite or huge"
            )


def _corners(box: Floats) -> Floats:
    """The corners on the ground (boxes x 4 x 2), in order around it."""
    x, y, width, length, yaw = (box[:, place, None] for place in (0, 1, 3, 4, 6))
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = np.cos(yaw / 2), np.sin(yaw / 2)
        c, s = a * a - b * b, 2 * a * b
        along, across = np.array([1, 1, -1, -1]), np.array([1, -1, -1, 1])
        return np.stack(
            [
                x + along * (length / 2 * c) + across * (width / 2 * s),
                y + along * (length / 2 * s) - across * (width / 2 * c),
            ],
            axis=2,
        )


def _best(boxes: Floats, group: Integers, truths: Floats, starts: Integers) -> tuple[Integers, Floats]:
    """For each box the truth of its group with the largest overlap (the first at a tie), and that overlap.

    ``truths`` of group g are those from ``starts[g]`` to ``starts[g + 1]``.
    """
    best, overlap = starts[group], np.zeros(len(boxes))
    reach, reaches = (np.hypot(box[:, 3], box[:, 4]) / 2 for box in (boxes, truths))  # of circles around them
    step = max(1, _AT_ONCE // int(np.diff(starts).max(initial=1)))
    for first in range(0, len(boxes), step):
        groups = group[first : first + step]
        counts = starts[groups + 1] - starts[groups]
        one = np.repeat(np.arange(first, first + len(groups)), counts)
        other = np.arange(len(one)) + np.repeat(starts[groups] - np.cumsum(counts) + counts, counts)
        apart = np.hypot(boxes[one, 0] - truths[other, 0], boxes[one, 1] - truths[other, 1])
        touch = apart <= (reach[one] + reaches[other]) * (1 + _ROUNDING)
        one, other = one[touch], other[touch]
        found = _overlaps(boxes[one], truths[other], one)
        order = np.lexsort((other, -found, one))
        boxes_here, places = np.unique(one[order], return_index=True)
        best[boxes_here], overlap[boxes_here] = other[order][places], found[order][places]
    return best, overlap


def _overlaps(boxes: Floats, truths: Floats, one: Integers) -> Floats:
    """Intersection over union of pairs of boxes (pairs x 7 each); ``one``: the number of each pair's first box.

    What counts is which overlap of a box is the largest, and which thresholds it exceeds: where that is close, it is
    computed with shapely, as published. Shapely for all pairs takes 4 s longer at the true size: 4,536 samples, 60
    boxes each.
    """
    found = _over_union(_shared_area(boxes, truths), boxes, truths)
    close: NDArray[np.bool_] = np.any(np.abs(found[:, None] - THRESHOLDS) < _CLOSE, axis=1)
    order = np.lexsort((found, one))
    tie = (np.diff(one[order]) == 0) & (np.diff(found[order]) < _CLOSE) & (found[order[1:]] > THRESHOLDS[0])
    close[order[:-1][tie]] = close[order[1:][tie]] = True
    close = np.isin(one, one[close])
    found[close] = _exact_overlaps(boxes[close], truths[close])
    return found


def _exact_overlaps(boxes: Floats, truths: Floats) -> Floats:
    import shapely

    ground = shapely.area(shapely.intersection(shapely.polygons(_corners(boxes)), shapely.polygons(_corners(truths))))
    return _over_union(ground, boxes, truths)


def _shared_area(boxes: Floats, truths: Floats) -> Floats:
    """The area that pairs of boxes share on the ground.

    It is the integral along the truth's length of the width that both cover there. That width is linear between the
    corners of the box, the ends of the truth, and the places where a side of one crosses a long side of the other.
    """
    x, y, turned = _seen_from(truths, boxes)
    c, s = _not_zero(np.cos(turned)), _not_zero(np.sin(turned))
    half, side, end, edge = boxes[:, 4] / 2, boxes[:, 3] / 2, truths[:, 4] / 2, truths[:, 3] / 2
    places = [-end, end, *(x + i * half * c + j * side * s for i in (1, -1) for j in (1, -1))]
    for v in (edge - y, -edge - y):
        places += [x + (i * half - v * s) / c for i in (1, -1)] + [x + (v * c + i * side) / s for i in (1, -1)]
    at = np.sort(np.clip(np.column_stack(places), -end[:, None], end[:, None]), axis=1)
    u = (at[:, 1:] + at[:, :-1]) / 2 - x[:, None]
    c, s, half, side, y, edge = (values[:, None] for values in (c, s, half, side, y, edge))
    high = np.minimum(np.minimum(-u * c / s + half / abs(s), u * s / c + side / abs(c)) + y, edge)
    low = np.maximum(np.maximum(-u * c / s - half / abs(s), u * s / c - side / abs(c)) + y, -edge)
    return np.asarray((np.maximum(0, high - low) * np.diff(at, axis=1)).sum(axis=1))


def _seen_from(truths: Floats, boxes: Floats) -> tuple[Floats, Floats, Floats]:
    """Centre and direction of boxes, where the truths' centres are 0 and their lengths lie along x."""
    x, y = boxes[:, 0] - truths[:, 0], boxes[:, 1] - truths[:, 1]
    c, s = np.cos(truths[:, 6]), np.sin(truths[:, 6])
    return x * c + y * s, y * c - x * s, boxes[:, 6] - truths[:, 6]


def _not_zero(values: Floats) -> Floats:
    return np.where(abs(values) < 1e-100, 1e-100, values)


def _over_union(ground: Floats, boxes: Floats, truths: Floats) -> Floats:
    """Overlap by volume, of an area shared on the ground; 0 where infinite heights leave none."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low = np.maximum(boxes[:, 2] - boxes[:, 5] / 2, truths[:, 2] - truths[:, 5] / 2)
        high = np.minimum(boxes[:, 2] + boxes[:, 5] / 2, truths[:, 2] + truths[:, 5] / 2)
        shared = ground * np.maximum(0, high - low)
        union = boxes[:, 3:6].prod(axis=1) + truths[:, 3:6].prod(axis=1) - shared
        return np.asarray(np.clip(np.nan_to_num(shared / union, nan=0.0), 0, 1))


def _hits(best: Integers, enough: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of boxes in order, those that overlap enough with a truth that none before them did."""
    hit = np.zeros(len(best), dtype=bool)
    candidates = np.flatnonzero(enough)
    hit[candidates[np.unique(best[candidates], return_index=True)[1]]] = True
    return hit


def _average_precisions(hit: NDArray[np.bool_], group: Integers, sizes: Integers) -> Floats:
    """The AP of each group, of boxes sorted by it and in order within; ``sizes``: its number of truths."""
    averages = np.zeros(len(sizes))
    if not hit.any():
        return averages
    hits, begins = np.flatnonzero(hit), _begins(group)[hit]
    group = group[hits]
    number = np.arange(len(hits)) - _begins(group) + 1  # of each hit, in its group
    precision = number / (hits - begins + 1)  # between hits it falls, so that the highest is a hit's
    levels, rank = np.unique(precision, return_inverse=True)  # whole numbers, so that groups can be kept apart exactly
    offset = (len(sizes) - group) * len(levels)
    highest = np.maximum.accumulate((rank + offset)[::-1])[::-1] - offset  # from here to the end of the group
    np.add.at(averages, group, levels[highest])
    return averages / sizes


def _begins(group: Integers) -> Integers:
    """The place where each box's group begins."""
    return np.maximum.accumulate(np.where(np.diff(group, prepend=-1), np.arange(len(group)), 0))
