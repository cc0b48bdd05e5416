"""Masks as runs of pixels: areas, overlaps, Dice, and writing run-length text.

``mlecore.submissions.masks`` reads them: runs x 2 (first pixel, counted from 0; the one after the last), ascending and
disjoint. So counts need no picture, and do not depend on whether pixels are counted by rows or by columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlecore.submissions.masks import Masks, Runs

_TOGETHER = 2048  # masks


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
    return int(_shared(a, b).sum())


def _shared(a: Runs, b: Runs) -> NDArray[Any]:
    """The pixels that are set in both, in parts: where two runs have begun that have not ended.

    That is from the second begin of all runs to their first end, from the third to the second and so on, where the end
    is the later one.
    """
    begins, ends = (np.sort(np.concatenate([a[:, side], b[:, side]]), kind="stable") for side in (0, 1))
    return np.asarray(np.maximum(ends[:-1] - begins[1:], 0))


def areas(masks: Masks) -> NDArray[np.int64]:
    """``area`` of each mask, all at once."""
    return np.concatenate([np.empty(0, dtype=np.int64), *map(_areas, _parts(masks))])


def _areas(masks: Masks) -> NDArray[np.int64]:
    runs, counts = _joined(masks)
    return _sums(runs[:, 1] - runs[:, 0], np.cumsum(counts))


def overlaps(a: Masks, b: Masks) -> NDArray[np.int64]:
    """``overlap`` of each pair of masks, many at once."""
    if len(a) != len(b):
        raise ValueError(f"there are {len(a)} and {len(b)} masks")
    return np.concatenate([np.empty(0, dtype=np.int64), *map(_overlaps, _parts(a), _parts(b))])


def _overlaps(a: Masks, b: Masks) -> NDArray[np.int64]:
    """Pictures follow one another, as if they were one."""
    (one, one_counts), (other, other_counts) = _joined(a), _joined(b)
    pixels = max(int(one.max(initial=0)), int(other.max(initial=0)))
    if pixels * len(a) > np.iinfo(np.int64).max:
        return np.array([overlap(*pair) for pair in zip(a, b, strict=True)], dtype=np.int64)
    small = pixels * len(a) <= np.iinfo(np.int32).max  # sorted in half the time
    places = (np.arange(len(a)) * pixels).astype(np.int32 if small else np.int64)
    one, other = (
        runs + np.repeat(places, counts)[:, None] for runs, counts in ((one, one_counts), (other, other_counts))
    )
    shared = _shared(one, other)
    return _sums(shared, np.maximum(np.cumsum(one_counts + other_counts) - 1, 0))


def _sums(parts: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of the parts up to each end from the one before."""
    return np.diff(np.concatenate([[0], np.cumsum(parts, dtype=np.int64)])[ends], prepend=0)


def _parts(masks: Masks) -> Iterator[Masks]:
    """So many that what is computed of them fits a processor's cache."""
    return (masks[start : start + _TOGETHER] for start in range(0, len(masks), _TOGETHER))


def _joined(masks: Masks) -> tuple[Runs, NDArray[np.int64]]:
    """All runs, and how many each mask has."""
    from mlecore.submissions.lists import Lists

    if isinstance(masks, Lists):
        return masks.joined(), masks.counts()
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *masks]), np.array([*map(len, masks)], dtype=np.int64)


def dice(a: Masks, b: Masks) -> list[float]:
    """2 * overlap / (area + area) of each pair of masks; NaN where both are empty."""
    with np.errstate(invalid="ignore"):
        scores: list[float] = (2 * overlaps(a, b) / (areas(a) + areas(b))).tolist()
    return scores
