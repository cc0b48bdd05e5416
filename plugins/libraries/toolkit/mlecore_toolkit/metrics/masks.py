"""Areas, overlaps and Dice of masks, and run-length text.

A mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint, as
``submissions.masks`` reads it. So counting needs no picture, and works for pixels counted by rows or by columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlecore_toolkit.submissions.masks import Masks, Runs


def encode_mask(mask: ArrayLike, order: Literal["columns", "rows"]) -> str:
    """The text of a mask (height x width, non-zero is set), with pixels counted down the columns or along the rows."""
    flat = np.asarray(mask).astype(bool).ravel(order="F" if order == "columns" else "C")
    edges = np.flatnonzero(np.diff(np.r_[False, flat, False].astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    return " ".join(map(str, np.column_stack([starts + 1, ends - starts]).ravel().tolist()))


def area(runs: Runs) -> int:
    """The number of pixels that are set."""
    return int(runs[:, 1].sum() - runs[:, 0].sum())


def overlap(a: Runs, b: Runs) -> int:
    """The number of pixels that are set in both masks, where two runs are open.

    That is from the second begin of all runs to their first end, from the third to the second and so on, if the end is
    later.
    """
    begins, ends = np.sort(np.concatenate([a, b]), axis=0).T
    return int(np.maximum(ends[:-1] - begins[1:], 0).sum())


def areas(masks: Masks) -> NDArray[np.int64]:
    """``area`` of each mask."""
    return np.array([area(runs) for runs in masks], dtype=np.int64)


def overlaps(a: Masks, b: Masks) -> NDArray[np.int64]:
    """``overlap`` of each pair of masks."""
    return np.array([overlap(*pair) for pair in zip(a, b, strict=True)], dtype=np.int64)


def dice(a: Masks, b: Masks) -> list[float]:
    """2 * overlap / (area + area) of each pair of masks; NaN where both are empty."""
    with np.errstate(invalid="ignore"):
        scores: list[float] = (2 * overlaps(a, b) / (areas(a) + areas(b))).tolist()
    return scores
