"""Masks as runs of pixels: areas, overlaps, Dice, and writing run-length text.

``mlecore.submissions.masks`` reads them: runs x 2 (first pixel, counted from 0; the one after the last), ascending and
disjoint. So counts need no picture, and do not depend on whether pixels are counted by rows or by columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlecore.submissions.masks import Masks, Runs

_MOST = 2**63 - 1
_TOGETHER = 4096  # masks


def encode_mask(mask: ArrayLike, order: Literal["columns", "rows"]) -> str:
    """The text for a picture (height x width, non-zero is set), pixels counted down the columns or along the rows."""
    flat = np.asarray(mask).astype(bool).ravel(order="F" if order == "columns" else "C")
    edges = np.flatnonzero(np.diff(np.r_[False, flat, False].astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    return " ".join(map(str, np.column_stack([starts + 1, ends - starts]).ravel().tolist()))


def area(runs: Runs) -> int:
    """The number of pixels that are set."""
    return int(runs[:, 1].sum() - runs[:, 0].sum())


def overlap(a: Runs, b: Runs) -> int:
    """The number of pixels that are set in both."""
    if not len(a) or not len(b):
        return 0
    return int(_shared(a, b).sum())


def _shared(a: Runs, b: Runs) -> NDArray[np.int64]:
    """The pixels of each run of ``b`` that are set in ``a``."""
    edges, pixels = a.ravel(), b.ravel()
    place = edges.searchsorted(pixels)  # odd: the pixel is inside of a run of a, or its end
    inside = place % 2 == 1
    before = np.concatenate(([0], np.cumsum(a[:, 1] - a[:, 0])))[place // 2]  # set in a, in whole runs before the pixel
    before[inside] += pixels[inside] - edges[place[inside] - 1]
    return np.asarray(before[1::2] - before[::2])


def areas(masks: Masks) -> NDArray[np.int64]:
    """``area`` of each mask, all at once."""
    return np.concatenate([np.empty(0, dtype=np.int64), *map(_areas, _parts(masks))])


def _areas(masks: Masks) -> NDArray[np.int64]:
    runs, ends = _joined(masks)
    return np.asarray(np.diff(np.cumsum(np.r_[0, runs[:, 1] - runs[:, 0]])[np.r_[0, ends]]))


def overlaps(a: Masks, b: Masks) -> NDArray[np.int64]:
    """``overlap`` of each pair of masks, many at once."""
    if len(a) != len(b):
        raise ValueError(f"there are {len(a)} and {len(b)} masks")
    return np.concatenate([np.empty(0, dtype=np.int64), *map(_overlaps, _parts(a), _parts(b))])


def _overlaps(a: Masks, b: Masks) -> NDArray[np.int64]:
    """Pictures follow one another, as if they were one."""
    (one, one_ends), (other, other_ends) = _joined(a), _joined(b)
    if not len(one) or not len(other):
        return np.zeros(len(one_ends), dtype=np.int64)
    pixels = max(int(one.max()), int(other.max()))
    if pixels > _MOST // len(one_ends):
        return np.array([overlap(*pair) for pair in zip(a, b, strict=True)], dtype=np.int64)
    places = np.arange(len(one_ends)) * pixels
    one = one + np.repeat(places, np.diff(one_ends, prepend=0))[:, None]
    other = other + np.repeat(places, np.diff(other_ends, prepend=0))[:, None]
    return np.asarray(np.diff(np.cumsum(np.r_[0, _shared(one, other)])[np.r_[0, other_ends]]))


def _parts(masks: Masks) -> Iterator[Masks]:
    """So many that what is computed of them takes little memory beside all."""
    return (masks[start : start + _TOGETHER] for start in range(0, len(masks), _TOGETHER))


def _joined(masks: Masks) -> tuple[Runs, NDArray[np.int64]]:
    """All runs, and for each mask the number of them up to its end."""
    from mlecore.submissions.lists import Lists

    if isinstance(masks, Lists):
        return masks.joined().astype(np.int64, copy=False), np.cumsum(masks.counts())
    ends = np.cumsum(np.fromiter(map(len, masks), np.int64, len(masks)))
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *masks]), ends


def dice(a: Masks, b: Masks) -> list[float]:
    """2 * overlap / (area + area) of each pair of masks; NaN where both are empty."""
    both, shared = (areas(a) + areas(b)).tolist(), overlaps(a, b).tolist()
    return [2 * hits / pixels if pixels else float("nan") for hits, pixels in zip(shared, both, strict=True)]
