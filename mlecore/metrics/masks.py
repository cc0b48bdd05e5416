"""Masks as runs of pixels: areas, overlaps, Dice, and writing run-length text.

``mlecore.submissions.masks`` reads them: runs x 2 (first pixel, counted from 0; the one after the last), ascending and
disjoint. So counts need no picture, however large it is, and do not depend on whether pixels are counted by rows or by
columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlecore.submissions.masks import Runs


def encode_mask(mask: ArrayLike, order: Literal["columns", "rows"]) -> str:
    """The text for a picture (height x width, non-zero is set), pixels counted down the columns or along the rows."""
    flat = np.asarray(mask).astype(bool).ravel(order="F" if order == "columns" else "C")
    edges = np.flatnonzero(np.diff(np.r_[False, flat, False].astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    return " ".join(map(str, np.column_stack([starts + 1, ends - starts]).ravel().tolist()))


def area(runs: Runs) -> int:
    """The number of pixels that are set."""
    return int((runs[:, 1] - runs[:, 0]).sum())


def overlap(a: Runs, b: Runs) -> int:
    """The number of pixels that are set in both."""
    return int((_set_before(a, b[:, 1]) - _set_before(a, b[:, 0])).sum()) if len(a) and len(b) else 0


def dice(a: Runs, b: Runs) -> float:
    """2 * overlap / (area + area); NaN where both are empty."""
    both = area(a) + area(b)
    return 2 * overlap(a, b) / both if both else float("nan")


def _set_before(runs: Runs, pixels: NDArray[np.int64]) -> NDArray[Any]:
    """How many pixels of ``runs`` lie before each of ``pixels``?"""
    lengths = runs[:, 1] - runs[:, 0]
    before = np.r_[0, np.cumsum(lengths)]
    place = np.searchsorted(runs[:, 0], pixels, side="right")  # runs that begin at or before the pixel
    last = np.maximum(place - 1, 0)
    beyond = np.where(place > 0, np.maximum(runs[last, 1] - pixels, 0), 0)  # of the last of them
    return np.asarray(before[place] - beyond)
