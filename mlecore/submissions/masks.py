"""Run-length masks: text to runs of pixels.

A decoded mask is an array of runs x 2 (first pixel, counted from 0; the one after the last), ascending and disjoint;
``mlecore.metrics.masks`` counts with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import batches, pieces
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

Runs: TypeAlias = "NDArray[np.int64] | NDArray[np.int32]"
Masks: TypeAlias = "Lists | Sequence[Runs]"

_PLAIN = re.compile(r"[0-9]{1,18}+(?: [0-9]{1,18}+)*+")  # what numpy reads, as int would, and at once
_PAIRS = re.compile(r"(?:[0-9]{1,18}+ [0-9]{1,18}+(?: [0-9]{1,18}+ [0-9]{1,18}+)*+)?")
_NONE = np.empty((0, 2), dtype=np.int32)
_SHORT, _TOGETHER = 1 << 16, 1 << 18  # characters of a mask, and of all that are decoded at once
_MOST = 2**63 - 1
_FAR = 2**62  # more than any picture has; keeps sums within 64 bits
_LONGEST = 18  # digits of numbers that are certainly within 64 bits


def decode_masks(frame: DataFrame, cells: Iterable[str], sizes: Iterable[int | None], *, exact: bool = False) -> Lists:
    """The runs of each row's cell; ``sizes``: the number of pixels of each row's picture, None if it is unknown.

    A cell is blank (no pixel), or ``start length start length ...`` separated by white space, counted from 1. Refused:
    what Python's ``int`` does not take, starts that descend, starts or lengths below 1, a run over a pixel that is set
    already (beyond the picture it may be), an odd count of numbers. Two odd counts pass, as in the published graders:
    one number above 0 is an empty mask, ``a b c`` is ``a b c b``. What lies beyond the picture is cut off. ``exact``:
    such counts, and pixels beyond the picture, are rejected too.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    from mlecore.submissions.lists import lists_of

    texts, pixels = list(cells), list(sizes)
    if len(texts) != len(pixels):
        raise ValueError(f"there are {len(texts)} masks and {len(pixels)} sizes")
    limits = _limits(pixels)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    empty = np.flatnonzero(lengths == 0).tolist()
    parts: list[tuple[Sequence[int], NDArray[np.intp], Runs]] = [(empty, np.zeros(len(empty), dtype=np.intp), _NONE)]
    odd = np.flatnonzero(lengths > _SHORT).tolist()  # places of those that are decoded one by one
    for some in batches(np.where(lengths > _SHORT, 0, lengths), _TOGETHER):
        plain = some
        found = _decode_together([texts[place] for place in plain], limits[plain], exact)
        if found is None:
            plain = [place for place in some if _PAIRS.fullmatch(texts[place])]
            found = _decode_together([texts[place] for place in plain], limits[plain], exact)
        if found is not None:
            parts.append((plain, *found))
        odd += some if found is None else sorted({*some} - {*plain})
    for place in in_file_order(frame, sorted(odd)):
        size = pixels[place]
        try:
            runs = _decode(texts[place], None if size is None else int(size), exact)
        except ValueError as error:
            raise InvalidSubmission(f"{row_name(frame, place)}: {error}; found {shown(texts[place])}") from None
        parts.append(([place], np.array([len(runs)]), runs))
    return lists_of(parts, lambda runs: np.concatenate([_NONE, *runs]))


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


def _limits(pixels: Sequence[int | None]) -> NDArray[np.int64]:
    """The pixels of each picture; ``_FAR`` if it is unknown, and less if not."""
    sizes = np.array(pixels)
    if sizes.dtype.kind == "i":
        return np.asarray(np.minimum(sizes, _FAR - 1))
    return np.array([_FAR if size is None else min(int(size), _FAR - 1) for size in pixels], dtype=np.int64)


def _decode_together(
    cells: Sequence[str], limits: NDArray[np.int64], exact: bool
) -> tuple[NDArray[np.intp], Runs] | None:
    """How many runs each has, and all of them; None if a cell has an odd count of numbers, anything but digits and
    single blanks, or is wrong: ``_decode`` says which.

    The numbers of all cells lie one behind the other, and numpy reads them at once.
    """
    if not cells:
        return None
    text = "\n".join(cells).encode(errors="replace")
    if text.translate(None, b"0123456789 \n"):
        return None
    characters = np.frombuffer(text + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(characters < ord("0"))  # of numbers
    lengths = np.diff(ends, prepend=-1) - 1
    counts = np.diff(np.flatnonzero(characters[ends] == ord("\n")), prepend=-1)  # of numbers of each cell
    if len(counts) != len(cells) or (counts % 2).any() or not ((lengths > 0) & (lengths <= _LONGEST)).all():
        return None
    numbers = np.fromstring(text, dtype=np.int64, sep=" ")
    row = np.repeat(np.arange(len(cells)), counts // 2)
    limit = limits[row]
    begin = numbers[::2] - 1
    end = begin + numbers[1::2]
    within = row[1:] == row[:-1]  # a run and the one after it are of one mask
    inside = begin < limit
    wrong = (numbers < 1).any() or (within & (begin[1:] < begin[:-1])).any() or (exact and (end > limit).any())
    np.minimum(end, limit, out=end)
    if wrong or (within & (limit[1:] < _FAR) & inside[1:] & (begin[1:] < end[:-1])).any():
        return None
    small = int(end.max(initial=0)) <= np.iinfo(np.int32).max
    runs = np.empty((int(inside.sum()), 2), dtype=np.int32 if small else np.int64)
    runs[:, 0], runs[:, 1] = begin[inside], end[inside]
    return np.bincount(row[inside], minlength=len(cells)), runs


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
