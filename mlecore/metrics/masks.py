"""Masks as runs of pixels: areas, overlaps, Dice, and writing run-length text.

``mlecore.submissions.masks`` reads them: runs x 2 (first pixel, counted from 0; the one after the last), ascending and
disjoint. So counts need no picture, and do not depend on whether pixels are counted by rows or by columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mlecore.submissions.masks import Runs


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
    edges, pixels = a.ravel(), b.ravel()
    place = edges.searchsorted(pixels)  # odd: the pixel is inside of a run of a, or its end
    inside = place % 2 == 1
    before = np.concatenate(([0], np.cumsum(a[:, 1] - a[:, 0])))[place // 2]  # set in a, in whole runs before the pixel
    before[inside] += pixels[inside] - edges[place[inside] - 1]
    return int(before[1::2].sum() - before[::2].sum())


def dice(a: Runs, b: Runs) -> float:
    """2 * overlap / (area + area); NaN where both are empty."""
    both = area(a) + area(b)
    return 2 * overlap(a, b) / both if both else float("nan")
