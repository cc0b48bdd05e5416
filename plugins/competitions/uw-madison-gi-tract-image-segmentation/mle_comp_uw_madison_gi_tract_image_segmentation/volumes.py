"""The score's two parts: overlap of single masks, and distance of whole volumes.

A volume is what one scan shows: the slices of one day, one above the other, the organs of a slice joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore.metrics import areas, overlaps
from mlecore.submissions.messages import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlecore.submissions.masks import Masks, Runs

Size = tuple[int, int]  # height, width
_BLOCK = (2, 16, 16)  # voxels looked at together


@frozen
class Volume:
    """Slices of one size, each the masks that are joined in it."""

    size: Size
    slices: Sequence[Sequence[Runs]]

    def voxels(self) -> NDArray[np.bool_]:
        """(slices, width, height): pixels run down the columns."""
        height, width = self.size
        flat = np.zeros((len(self.slices), width * height), dtype=bool)
        for place, masks in enumerate(self.slices):
            for start, end in (run for mask in masks for run in mask.tolist()):
                flat[place, start:end] = True
        return flat.reshape(len(self.slices), width, height)


def mean_dice(truth: Masks, predictions: Masks) -> float:
    """Over the pairs in which not both are empty; NaN without one. What one side has beyond the other is left out."""
    common = min(len(truth), len(predictions))
    truth, predictions = truth[:common], predictions[:common]
    both = areas(truth) + areas(predictions)
    scores = (2 * overlaps(truth, predictions)[both > 0] / both[both > 0]).tolist()
    return sum(scores) / len(scores) if scores else float("nan")


def volumes(ids: Sequence[str], masks: Masks, sizes: Sequence[Size]) -> list[Volume]:
    """One a day, in the order of the ids as text; ``sizes`` may be longer.

    Raises InvalidSubmission if a day has slices of two sizes.
    """
    days: dict[str, dict[str, list[int]]] = {}
    for row in sorted(range(len(ids)), key=ids.__getitem__):
        day = ids[row].split("_slice_")[0]
        days.setdefault(day, {}).setdefault(ids[row], []).append(row)
    for day, slices in days.items():
        found = {sizes[row] for rows in slices.values() for row in rows}
        if len(found) > 1:
            raise InvalidSubmission(
                f"slices of {shown(day)} meet images of {len(found)} sizes in the answers: rows are paired by their "
                "place in the file, so keep the sample's order"
            )
    return [
        Volume(sizes[next(iter(slices.values()))[0]], [[masks[row] for row in rows] for rows in slices.values()])
        for slices in days.values()
    ]


def mean_distance(truth: Sequence[Volume], predictions: Sequence[Volume]) -> float:
    """Over the pairs in which not both are empty; NaN without one."""
    pairs = zip(truth, predictions, strict=False)
    distances = [d for a, b in pairs if (d := distance(a.voxels(), b.voxels())) is not None]
    return sum(distances) / len(distances) if distances else float("nan")


def distance(truth: NDArray[np.bool_], predictions: NDArray[np.bool_]) -> float | None:
    """The symmetric Hausdorff distance of two volumes in units of the true volume's diagonal; None: both are empty.

    Each axis is divided by the size of the true volume. 1 where one is empty, or the guess more than ten times the
    truth.
    """
    true, guessed = int(truth.sum()), int(predictions.sum())
    if not true and not guessed:
        return None
    if not true or not guessed or guessed > 10 * true:
        return 1.0
    if truth.shape == predictions.shape and (truth == predictions).all():
        return 0.0
    shape = tuple(map(max, truth.shape, predictions.shape))
    a, b = (_padded(volume, shape) for volume in (truth, predictions))
    box = _bounds(a | b)
    a, b = a[box], b[box]
    return max(_farthest(a & ~b, b, truth.shape), _farthest(b & ~a, a, truth.shape)) / 3**0.5


def _padded(volume: NDArray[np.bool_], shape: Sequence[int]) -> NDArray[np.bool_]:
    if volume.shape == shape:
        return volume
    return np.pad(volume, [(0, there - here) for here, there in zip(volume.shape, shape, strict=True)])


def _bounds(volume: NDArray[np.bool_]) -> tuple[slice, ...]:
    """The smallest box around the voxels that are set."""
    others = ((1, 2), (0, 2), (0, 1))
    places = [np.flatnonzero(volume.any(axis=axes)) for axes in others]
    return tuple(slice(place[0], place[-1] + 1) for place in places)


def _farthest(points: NDArray[np.bool_], others: NDArray[np.bool_], unit: Sequence[int]) -> float:
    """The largest distance of one of ``points``, none of which is in ``others``, to the nearest of these.

    That one always lies on their surface: from any other a step towards the point would come nearer. And of ``points``
    only those in blocks that may hold the farthest are looked at: no point of a block is farther than its centre by
    more than half the block's diagonal, and none is nearer by more.
    """
    from scipy.ndimage import binary_erosion
    from scipy.spatial import cKDTree

    if not points.any():
        return 0.0
    surface = np.argwhere(others & ~binary_erosion(others)) / unit
    tree = cKDTree(surface, balanced_tree=False)  # points of a grid balance themselves; built in a fraction of the time
    found = np.argwhere(points)
    shape = tuple(-(-side // block) for side, block in zip(points.shape, _BLOCK, strict=True))
    codes, block_of = np.unique(np.ravel_multi_index(tuple((found // _BLOCK).T), shape), return_inverse=True)
    centres = np.column_stack(np.unravel_index(codes, shape)) * _BLOCK + (np.array(_BLOCK) - 1) / 2
    about, _ = tree.query(centres / unit)
    reach = float(np.linalg.norm((np.array(_BLOCK) - 1) / 2 / unit)) + 1e-9
    distances, _ = tree.query(found[(about >= about.max() - 2 * reach)[block_of]] / unit)
    return float(distances.max())
