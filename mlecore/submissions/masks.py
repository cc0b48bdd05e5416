"""Run-length masks: text to runs of pixels.

A decoded mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint;
``mlecore.metrics.masks`` counts with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import pieces
from mlecore.submissions.decoding import decode
from mlecore.submissions.messages import row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

    from mlecore.submissions.lists import Lists

Runs: TypeAlias = "NDArray[np.int64] | NDArray[np.int32]"
Masks: TypeAlias = "Lists | Sequence[Runs]"

_PLAIN = re.compile(r"[0-9]{1,18}+(?: [0-9]{1,18}+)*+")  # what numpy reads, as int would, and at once
_NONE = np.empty((0, 2), dtype=np.int32)
_TOGETHER = 1 << 17  # characters that are decoded at once
_FEW = 16  # cells that are decoded one by one if one of them must be
_MOST = 2**63 - 1
_FAR = 2**62  # more than any picture has; keeps sums within 64 bits
_LONGEST = 18  # digits of numbers that are certainly within 64 bits
_EIGHT = 8  # bytes of 64 bits
_U = np.uint64
_DIGITS = np.array([0x0F0F0F0F0F0F0F0F >> 64 - 8 * n << 64 - 8 * n for n in range(9)], dtype=_U)  # of the last n bytes


def decode_masks(
    frame: DataFrame, cells: Iterable[str], sizes: Sequence[int | None] | Series, *, exact: bool = False
) -> Lists:
    """The runs of each row's cell; ``sizes``: the number of pixels of each row's picture, None if it is unknown.

    A cell is blank (no pixel), or ``start length start length ...`` separated by white space, counted from 1. Refused:
    what Python's ``int`` does not take, starts that descend, starts or lengths below 1, a run over a pixel that is set
    already (beyond the picture it may be), an odd count of numbers. Two odd counts pass, as in the published graders:
    one number above 0 is an empty mask, ``a b c`` is ``a b c b``. What lies beyond the picture is cut off. ``exact``:
    such counts, and pixels beyond the picture, are rejected too.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    texts, pixels = list(cells), np.asarray(sizes)
    if len(texts) != len(pixels):
        raise ValueError(f"there are {len(texts)} masks and {len(pixels)} sizes")
    limits = _limits(pixels)

    def together(some: list[str], places: NDArray[np.intp]) -> tuple[NDArray[np.intp], Runs] | None:
        return _decode_together(some, limits[places], exact)

    def alone(place: int) -> Runs:
        size = pixels[place]
        try:
            return _decode(texts[place], None if size is None else int(size), exact)
        except ValueError as error:
            raise InvalidSubmission(f"{row_name(frame, place)}: {error}; found {shown(texts[place])}") from None

    return decode(frame, texts, together, alone, _concatenate, characters=_TOGETHER, few=_FEW)


def _concatenate(parts: list[Runs]) -> Runs:
    return np.concatenate([_NONE, *parts])


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


def _limits(pixels: NDArray[Any]) -> NDArray[np.int64]:
    """The pixels of each picture; ``_FAR`` if it is unknown, and less if not."""
    if pixels.dtype.kind == "i":
        return np.asarray(np.minimum(pixels, _FAR - 1))
    return np.array([_FAR if size is None else min(int(size), _FAR - 1) for size in pixels], dtype=np.int64)


def _decode_together(
    cells: Sequence[str], limits: NDArray[np.int64], exact: bool
) -> tuple[NDArray[np.intp], Runs] | None:
    """How many runs each has, and all of them; None if a cell has an odd count of numbers, anything but digits and
    single blanks, or is wrong: ``_decode`` says which.
    """
    found = _numbers_together(cells)
    if found is None:
        return None
    numbers, final = found
    if final[::2].any() or numbers.min() < 1:
        return None
    runs, last = numbers.reshape(-1, 2), final[1::2]  # of its cell
    begin, end = runs[:, 0], runs[:, 1]
    begin -= 1
    end += begin
    counts = np.diff(np.flatnonzero(last), prepend=-1)
    within = ~last[:-1]  # a run and the one after it are of one mask
    overlap = within & (begin[1:] < end[:-1])
    if overlap.any() or end.max() > limits.min():
        limit = limits.repeat(counts)
        inside = begin < limit
        if (within & (begin[1:] < begin[:-1])).any() or (overlap & inside[1:] & (limit[1:] < _FAR)).any():
            return None
        if exact and (end > limit).any():
            return None
        np.minimum(end, limit, out=end)
        runs, counts = runs[inside], np.add.reduceat(inside, np.cumsum(counts) - counts, dtype=np.intp)
    return counts, runs.astype(np.int32) if runs.max(initial=0) <= np.iinfo(np.int32).max else runs


def _numbers_together(cells: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """The numbers of all cells, and which are the last of a cell; None if a cell has anything but whole numbers of few
    digits with single blanks between.

    A number is in the last of the eight bytes before its end. Of these, those of other numbers become 0, the others
    digits; then neighbours are added up: digits to numbers below 100, these to numbers below 10,000, and these.
    """
    text = "\n".join([*[""] * _EIGHT, *cells, ""]).encode(errors="surrogatepass")
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters < ord("0"))[_EIGHT - 1 :]
    lengths = np.diff(ends)
    lengths -= 1
    ends = ends[1:]
    final = characters[ends] == ord("\n")
    plain = (final | (characters[ends] == ord(" "))).all() and characters.max() <= ord("9")
    if not plain or np.count_nonzero(final) != len(cells) or lengths.min() < 1 or lengths.max() > _LONGEST:
        return None
    if lengths.max() > _EIGHT:
        return np.fromstring(text, dtype=np.int64, sep=" "), final
    eights = np.ndarray(len(text) - _EIGHT + 1, "V8", text, strides=(1,))  # those from each place on
    numbers = eights.take(ends - _EIGHT).view("<u8")
    numbers &= _DIGITS[lengths]
    numbers *= _U(10 << 8 | 1)
    numbers >>= _U(8)
    numbers &= _U(0x00FF00FF00FF00FF)
    numbers *= _U(100 << 16 | 1)
    numbers >>= _U(16)
    numbers &= _U(0x0000FFFF0000FFFF)
    numbers *= _U(10_000 << 32 | 1)
    numbers >>= _U(32)
    return numbers.view("<i8"), final


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
