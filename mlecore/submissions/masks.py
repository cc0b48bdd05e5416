"""Run-length masks: text to runs of pixels.

A decoded mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint;
``mlecore.metrics.masks`` counts with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import pieces
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

Runs: TypeAlias = "NDArray[np.int64]"

_PLAIN = re.compile(r"[0-9]{1,18}+(?: [0-9]{1,18}+)*+")  # what numpy reads, as int would, and at once
_PAIRS = re.compile(r"(?:[0-9]{1,18}+ [0-9]{1,18}+(?: [0-9]{1,18}+ [0-9]{1,18}+)*+)?")
_SHORT, _TOGETHER = 4096, 4096  # characters of a mask, and masks that are decoded at once
_MOST = 2**63 - 1
_FAR = 2**62  # more than any picture has; keeps sums within 64 bits


def decode_masks(
    frame: DataFrame, cells: Iterable[str], sizes: Iterable[int | None], *, exact: bool = False
) -> list[Runs]:
    """The runs of each row's cell; ``sizes``: the number of pixels of each row's picture, None if it is unknown.

    A cell is blank (no pixel), or ``start length start length ...`` separated by white space, counted from 1. Refused:
    what Python's ``int`` does not take, starts that descend, starts or lengths below 1, a run over a pixel that is set
    already (beyond the picture it may be), an odd count of numbers. Two odd counts pass, as in the published graders:
    one number above 0 is an empty mask, ``a b c`` is ``a b c b``. What lies beyond the picture is cut off. ``exact``:
    such counts, and pixels beyond the picture, are rejected too.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    rows = list(zip(cells, sizes, strict=True))
    out: dict[int, Runs] = {}
    for start in range(0, len(rows), _TOGETHER):
        out |= _decode_together(rows, range(start, min(start + _TOGETHER, len(rows))), exact)
    for place in in_file_order(frame, [place for place in range(len(rows)) if place not in out]):
        cell, size = rows[place]
        try:
            out[place] = _decode(cell, None if size is None else int(size), exact)
        except ValueError as error:
            raise InvalidSubmission(f"{row_name(frame, place)}: {error}; found {shown(cell)}") from None
    return [out[place] for place in range(len(rows))]


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
    del numbers, starts, lengths  # there may be many
    if size is None:
        return np.column_stack([begin, end])
    if exact and len(end) and end.max() > size:
        raise ValueError(f"a mask must stay within the picture's {size:,} pixels")
    inside = begin < size
    begin, end = begin[inside], np.minimum(end, size)[inside]
    if (begin[1:] < end[:-1]).any():
        raise ValueError("runs of a mask overlap")
    return np.column_stack([begin, end])


def _decode_together(rows: Sequence[tuple[str, int | None]], places: Iterable[int], exact: bool) -> Mapping[int, Runs]:
    """The short ones among these masks, decoded at once, in a ninth of the time; cells with an odd count of numbers, or
    with anything but digits and single blanks, are left out. None of them if one is wrong: ``_decode`` says which."""
    places = [place for place in places if len(cell := rows[place][0]) <= _SHORT and _PAIRS.fullmatch(cell)]
    cells = [rows[place][0] for place in places]
    counts = [cell.count(" ") // 2 + bool(cell) for cell in cells]  # of runs
    numbers = np.fromstring(" ".join(filter(None, cells)), dtype=np.int64, sep=" ")
    limits = np.array([_FAR if (size := rows[place][1]) is None else min(int(size), _FAR - 1) for place in places])
    row = np.repeat(np.arange(len(places)), counts)
    limit = limits[row]
    begin, end = numbers[::2] - 1, numbers[::2] - 1 + numbers[1::2]
    within = row[1:] == row[:-1]  # a run and the one after it are of one mask
    inside = begin < limit
    wrong = (numbers < 1).any() or (within & (begin[1:] < begin[:-1])).any() or (exact and (end > limit).any())
    known = limit[1:] < _FAR
    if wrong or (within & known & inside[1:] & (begin[1:] < np.minimum(end, limit)[:-1])).any():
        return {}
    runs = np.column_stack([begin, np.minimum(end, limit)])[inside]
    ends = np.cumsum(np.bincount(row[inside], minlength=len(places)))
    return dict(zip(places, np.split(runs, ends)[:-1], strict=True))


def _numbers(cell: str) -> NDArray[np.int64]:
    """What ``int`` makes of each word, kept within 64 bits."""
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
