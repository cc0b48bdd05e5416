"""Masks as runs of pixels: decoding and writing run-length text, areas, overlaps, Dice.

A decoded mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint. So
counts need no picture, however large it is, and do not depend on whether pixels are counted by rows or by columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore.submissions.messages import row_name, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from pandas import DataFrame

    Runs = NDArray[np.int64]

_FAR = 2**62  # beyond every picture; keeps sums within 64 bits


def decode_masks(frame: DataFrame, cells: Sequence[str], sizes: Iterable[int]) -> list[Runs]:
    """The runs of each row's cell; ``sizes``: the number of pixels of each row's picture.

    A cell is blank (no pixel), or ``start length start length ...`` separated by white space, counted from 1. Refused:
    what Python's ``int`` does not take, starts that descend, starts or lengths below 1, a run over a pixel that is set
    already, an odd count of numbers. Two odd counts pass, as in the published grader: one number above 0 is an empty
    mask, ``a b c`` is ``a b c b``. What lies beyond the picture is cut off.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    out = []
    for place, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        try:
            out.append(_decode(cell, int(size)))
        except ValueError as error:
            raise InvalidSubmission(f"{row_name(frame, place)}: {error}; found {shown(cell)}") from None
    return out


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


def _decode(cell: str, size: int) -> Runs:
    tokens = cell.split()
    try:
        numbers = [int(token) for token in tokens]
    except ValueError:
        raise ValueError("a mask must be whole numbers separated by blanks") from None
    starts, lengths = numbers[::2], numbers[1::2]
    if any(later < sooner for sooner, later in pairwise(starts)):
        raise ValueError("the starts of a mask must ascend")
    if starts and (min(starts) < 1 or min(lengths, default=1) < 1):
        raise ValueError("starts and lengths of a mask must be 1 or more")
    if len(starts) != len(lengths):
        if len(starts) > 2:
            raise ValueError("a mask must be pairs of start and length, and this is an odd count of numbers")
        starts, lengths = (starts, lengths * 2) if len(starts) == 2 else ([], [])
    begin = np.array([min(start - 1, _FAR) for start in starts], dtype=np.int64)
    end = np.minimum(begin + np.array([min(length, _FAR) for length in lengths], dtype=np.int64), size)
    inside = begin < size
    begin, end = begin[inside], end[inside]
    if (begin[1:] < end[:-1]).any():
        raise ValueError("runs of a mask overlap")
    return np.column_stack([begin, end])
