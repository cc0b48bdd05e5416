"""Reads run-length masks as runs of pixels.

A decoded mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint;
``mlecore_toolkit.metrics.masks`` computes areas and overlaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.cells import pieces
from mlecore_toolkit.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

Runs: TypeAlias = "NDArray[np.int64]"
Masks: TypeAlias = "Sequence[Runs] | NDArray[np.object_]"

_PLAIN = re.compile(r"[0-9]{1,18}+(?: [0-9]{1,18}+)*+")  # numpy reads these as int does, but all at once
_MOST = 2**63 - 1
_FAR = 2**62  # more pixels than any picture has; keeps sums within 64 bits


def decode_masks(
    frame: DataFrame, cells: Iterable[str], sizes: Sequence[int | None] | Series, *, exact: bool = False
) -> NDArray[np.object_]:
    """The runs of each row's cell; ``sizes``: the number of pixels of each row's picture, None if it is unknown.

    A cell is blank (no pixel), or ``start length start length ...`` separated by white space, counted from 1. Invalid
    are words that Python's ``int`` rejects, descending starts, starts or lengths below 1, runs that overlap within the
    picture, and an odd number of numbers. Two odd numbers are valid, as in the published graders: one number above 0 is
    an empty mask, ``a b c`` is ``a b c b``. Pixels beyond the picture are cut off. ``exact``: such masks, and pixels
    beyond the picture, are invalid, too.

    Raises InvalidSubmission that names the first invalid row of ``frame``.
    """
    texts, pixels = list(cells), list(sizes)
    if len(texts) != len(pixels):
        raise ValueError(f"there are {len(texts)} masks and {len(pixels)} sizes")
    masks = np.empty(len(texts), dtype=object)
    for place in in_file_order(frame, range(len(texts))):
        size = pixels[place]
        try:
            masks[place] = _decode(texts[place], None if size is None else int(size), exact)
        except ValueError as error:
            raise InvalidSubmission(f"{row_name(frame, place)}: {error}; found {shown(texts[place])}") from None
    return masks


def _decode(cell: str, size: int | None, exact: bool) -> Runs:
    numbers = _numbers(cell)
    starts, lengths = numbers[::2], numbers[1::2]
    if (starts[1:] < starts[:-1]).any():
        raise ValueError("the starts of a mask must ascend")
    if len(numbers) and numbers.min() < 1:
        raise ValueError("starts and lengths of a mask must be 1 or more")
    if len(starts) != len(lengths):
        if exact or len(starts) > 2:
            raise ValueError("a mask must be pairs of start and length, and this is an odd number of numbers")
        starts, lengths = (starts, lengths.repeat(2)) if len(starts) == 2 else (lengths, lengths)
    begin = np.minimum(starts - 1, _FAR)
    end = begin + np.minimum(lengths, _FAR)
    del numbers, starts, lengths  # they may be large
    if size is None:
        return np.column_stack([begin, end])
    if exact and len(end) and end.max() > size:
        raise ValueError(f"a mask must stay within the picture's {size:,} pixels")
    inside = begin < size
    begin, end = begin[inside], np.minimum(end, size)[inside]
    if (begin[1:] < end[:-1]).any():
        raise ValueError("runs of a mask overlap")
    return np.column_stack([begin, end])


def _numbers(cell: str) -> NDArray[np.int64]:
    """``int`` of each word, clipped to 64 bits."""
    return np.concatenate([_numbers_of(piece) for piece in pieces(cell)])


def _numbers_of(piece: str) -> NDArray[np.int64]:
    if _PLAIN.fullmatch(piece):
        return np.fromstring(piece, dtype=np.int64, sep=" ")
    try:
        numbers = list(map(int, piece.split()))
    except ValueError:
        raise ValueError("a mask must be whole numbers separated by blanks") from None
    try:
        return np.array(numbers, dtype=np.int64).clip(-_MOST)
    except OverflowError:
        return np.array([max(-_MOST, min(number, _MOST)) for number in numbers], dtype=np.int64)
