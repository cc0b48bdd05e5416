"""The score's two parts: overlap of single masks, and distance of whole volumes.

A volume is what one scan shows: the slices of one day, one above the other, the organs of a slice joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore_toolkit import areas, overlaps
from mlecore_toolkit.submissions.messages import shown

if TYPE_CHECKING:
    from mle_comp_uw_madison_gi_tract_image_segmentation.hausdorff import Integers
    from mlecore_toolkit.submissions.masks import Masks

Size = tuple[int, int]  # height, width
Sizes: TypeAlias = "Sequence[Size] | Integers"
_TOGETHER = 1 << 18  # voxels whose distances are computed at once


@frozen(eq=False)
class Volumes:
    """Volumes, each of slices of one size, as runs of the pixels that are set, ascending and disjoint.

    ``shapes``: (volumes x 3) slices, width, height; ``places``: (runs x 2) volume and slice; ``runs``: (runs x 2) first
    pixel, counted down the columns, and the one after the last.
    """

    shapes: Integers
    places: Integers  # ascending
    runs: Integers

    def counts(self) -> Integers:
        """The voxels of each volume."""
        lengths = self.runs[:, 1] - self.runs[:, 0]
        return np.bincount(self.places[:, 0], lengths, minlength=len(self.shapes)).astype(np.int64)

    def voxels(self, some: Integers) -> Integers:
        """(4 x voxels) place in ``some`` of the volume, slice, column and row, ascending; ``some`` volumes ascend."""
        about = slice(*np.searchsorted(self.places[:, 0], [some[0], some[-1] + 1]))
        chosen = np.isin(self.places[about, 0], some)
        (volume, layer), (begin, end) = self.places[about][chosen].T, self.runs[about][chosen].T
        lengths = end - begin
        pixels = np.arange(lengths.sum()) + np.repeat(end - np.cumsum(lengths), lengths)
        column, row = np.divmod(pixels, np.repeat(self.shapes[volume, 2], lengths))
        place = np.searchsorted(some, volume)
        return np.stack([np.repeat(place, lengths), np.repeat(layer, lengths), column, row])


def pixels(sizes: Sizes) -> Integers:
    """Of each picture."""
    height, width = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
    return height * width


def mean_dice(truth: Masks, predictions: Masks) -> float:
    """Over the pairs in which not both are empty; NaN without one. What one side has beyond the other is left out."""
    common = min(len(truth), len(predictions))
    truth, predictions = truth[:common], predictions[:common]
    both = areas(truth) + areas(predictions)
    scores = (2 * overlaps(truth, predictions)[both > 0] / both[both > 0]).tolist()
    return sum(scores) / len(scores) if scores else float("nan")


@frozen(eq=False)
class Slices:
    """The slices of some rows, day by day: days in the order of their slices' names, slices of a day by theirs.

    ``rows``: those of the first slice, of the second and so on; ``of``: the slice of each of these; ``day`` of each
    slice, its place among ``days``.
    """

    rows: Integers
    of: Integers
    day: Integers
    days: Sequence[str]


def slices(ids: Sequence[str]) -> Slices:
    """Of rows with these ids, ``<day>_slice_<number>``."""
    import pandas as pd

    names = sorted(set(ids))
    rank = pd.Index(names, dtype=object).get_indexer(ids)
    day, days = pd.factorize(np.array([name.partition("_slice_")[0] for name in names], dtype=object))
    by_day = np.argsort(day, kind="stable")
    number = np.empty_like(by_day)
    number[by_day] = np.arange(len(by_day))
    rows = np.argsort(rank, kind="stable")
    return Slices(rows, number[rank[rows]], day[by_day], days)


def volumes(slices: Slices, masks: Masks, sizes: Sizes) -> Volumes:
    """One a day; ``sizes`` may be longer than the rows.

    Raises InvalidSubmission if a day has slices of two sizes.
    """
    day, counts = slices.day, np.bincount(slices.day, minlength=len(slices.days))
    layer = np.arange(len(day)) - np.repeat(np.cumsum(counts) - counts, counts)
    day_of = day[slices.of]
    found = np.asarray(sizes[: len(masks)], dtype=np.int64).reshape(-1, 2)[slices.rows]
    size = found[np.unique(day_of, return_index=True)[1]]
    height, width = (found != size[day_of]).T
    other = day_of[height | width]
    if len(other):
        which = other.min()
        several = len(set(map(tuple, found[day_of == which].tolist())))
        raise InvalidSubmission(
            f"slices of {shown(slices.days[which])} meet images of {several} sizes in the answers: rows are paired by "
            "their place in the file, so keep the sample's order"
        )
    ordered = [masks[row] for row in slices.rows]
    kept, runs = _joined(
        np.repeat(slices.of, list(map(len, ordered))), np.concatenate([np.empty((0, 2), dtype=np.int64), *ordered])
    )
    return Volumes(np.column_stack([counts, size[:, ::-1]]), np.column_stack([day, layer])[kept], runs)


def _joined(slices: Integers, runs: Integers) -> tuple[Integers, Integers]:
    """Runs in their slices, where runs that overlap are cut so that each pixel is in one; ascending.

    Slices lie one behind the other, as if they were one. Each run begins where the ones before it have ended.
    """
    far = int(runs.max(initial=0))
    runs = runs + (slices * far)[:, None]
    order = np.argsort(runs[:, 0], kind="stable")
    slices, runs = slices[order], runs[order]
    runs[1:, 0] = np.maximum(runs[1:, 0], np.maximum.accumulate(runs[:, 1])[:-1])
    kept = runs[:, 0] < runs[:, 1]
    return slices[kept], runs[kept] - (slices[kept] * far)[:, None]


def mean_distance(truth: Volumes, predictions: Volumes) -> float:
    """Over the pairs in which not both are empty; NaN without one."""
    from mle_comp_uw_madison_gi_tract_image_segmentation.hausdorff import distances

    pairs = min(len(truth.shapes), len(predictions.shapes))
    true, guessed = truth.counts()[:pairs], predictions.counts()[:pairs]
    found = np.ones(pairs)  # where one is empty, or the guess more than ten times the truth
    compared = np.flatnonzero((true > 0) & (guessed > 0) & (guessed <= 10 * true))
    part = np.cumsum((true + guessed)[compared]) // _TOGETHER
    for some in np.split(compared, np.flatnonzero(np.diff(part)) + 1):
        if len(some):
            found[some] = distances(truth.voxels(some), predictions.voxels(some), truth.shapes[some])
    scores = found[true + guessed > 0].tolist()
    return sum(scores) / len(scores) if scores else float("nan")
