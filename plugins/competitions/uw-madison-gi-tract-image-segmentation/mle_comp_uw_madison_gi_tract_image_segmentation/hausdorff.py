"""Hausdorff distances of many pairs of volumes at once.

A voxel is a column of four integers: its volume, and its place in it. So the voxels of all volumes are one set, where
those of one volume are nearer to each other than to any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"
_BLOCK = np.array([2, 16, 16])  # voxels looked at together
_TABLE = 1 << 26  # bytes


def distances(truth: Integers, predictions: Integers, units: Integers) -> Floats:
    """The symmetric Hausdorff distance of each pair of volumes in units of the diagonal of ``units``.

    ``truth`` and ``predictions`` (4 x voxels) ascend, and are of volumes 0, 1, ..., each of which has some on either
    side; each axis of a volume is divided by its ``units`` (volumes x 3).
    """
    sides = truth, predictions
    first = np.minimum(*(np.minimum.reduceat(side, _starts(side), axis=1) for side in sides))[1:]
    for side in sides:
        side[1:] -= first[:, side[0]]
    shape = (np.maximum(*(side.max(axis=1) for side in sides)) + 2).tolist()  # around each volume, places are free
    steps = [shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1]  # between keys of neighbours
    a, b = (np.array(steps) @ side + sum(steps) for side in sides)  # keys
    among_a, among_b = (_lookup(keys, (shape[0] + 1) * steps[0]) for keys in (a, b))
    farthest = np.maximum(
        _farthest(truth[:, ~among_b(a)], predictions[:, _surface(b, among_b, steps[1:])], units),
        _farthest(predictions[:, ~among_a(b)], truth[:, _surface(a, among_a, steps[1:])], units),
    )
    return np.asarray(farthest / 3**0.5)


def _starts(voxels: Integers) -> NDArray[np.intp]:
    """Where each volume begins."""
    return np.flatnonzero(np.diff(voxels[0], prepend=-1))


def _lookup(keys: Integers, places: int) -> Callable[[Integers], Flags]:
    """Which of some keys are among these, which ascend and are below ``places``: by a table if that is small enough."""
    if places <= _TABLE:
        table = np.zeros(places, dtype=bool)
        table[keys] = True
        return table.__getitem__
    return lambda some: keys[np.searchsorted(keys, some).clip(max=len(keys) - 1)] == some


def _surface(keys: Integers, among: Callable[[Integers], Flags], steps: list[int]) -> Flags:
    """Of which voxels one of the six neighbours is not set."""
    inside = np.ones(len(keys), dtype=bool)
    for step in steps:
        inside &= among(keys + step) & among(keys - step)
    return ~inside


def _farthest(points: Integers, surface: Integers, units: Integers) -> Floats:
    """For each volume the largest distance of one of ``points`` to the nearest voxel of the other side, 0 without any.

    None of ``points`` is set there, so that one always lies on the surface: from any other a step towards the point
    would come nearer. And of ``points`` only those in blocks that may hold the farthest are looked at: no point of a
    block is farther than its centre by more than half the block's diagonal, and none is nearer by more.
    """
    from scipy.spatial import cKDTree

    found = np.zeros(len(units))
    if not points.size:
        return found
    span = np.maximum(points.max(axis=1), surface.max(axis=1))[1:] + _BLOCK  # of a volume
    apart = float(np.ceil(2 * np.linalg.norm(span / units, axis=1).max()))  # so far are volumes from each other

    def located(places: Floats | Integers, volume: Integers) -> Floats:
        return np.column_stack([places / units[volume], volume * apart])

    # points of a grid balance themselves; built in a fraction of the time
    tree = cKDTree(located(surface[1:].T, surface[0]), balanced_tree=False, compact_nodes=False)
    blocks = points // np.array([1, *_BLOCK])[:, None]
    shape = tuple(blocks.max(axis=1) + 1)
    codes, block_of = np.unique(np.ravel_multi_index(tuple(blocks), shape), return_inverse=True)
    volume, *corner = np.unravel_index(codes, shape)
    about, _ = tree.query(located(np.column_stack(corner) * _BLOCK + (_BLOCK - 1) / 2, volume))
    most = np.zeros(len(units))
    np.maximum.at(most, volume, about)
    reach = np.linalg.norm((_BLOCK - 1) / 2 / units, axis=1) + 1e-9
    close = points[:, (about >= (most - 2 * reach)[volume])[block_of]]
    distance, _ = tree.query(located(close[1:].T, close[0]))
    np.maximum.at(found, close[0], distance)
    return found
