"""A CSV file in blocks of whole records, and whether every parser splits a block into the same cells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BESIDE = tuple(b',\n"')  # may be before the mark that begins a cell, and behind the one that ends it
BLANK = b"\n \t"  # begin a line that pandas may skip
_CACHED = 1 << 16  # bytes, for which the masks of several steps fit a processor's cache


def blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole stream, cut at ends of lines that are not within quotation marks.

    After a record that is larger than a block, all the rest comes as one, so that each byte is looked at a few times
    only. Where marks are stray (see ``splits_alike``), the cuts from there on mean nothing.
    """
    left = b""
    while chunk := stream.read(size):
        left += chunk
        end = _end(left)
        if not end and len(left) > size:
            left += stream.read()
            end = len(left)
        if end:
            yield left[:end]
            left = left[end:]
    if left:
        yield left


def first_record(block: bytes) -> bytes:
    """The header line with its end; empty if there is no end."""
    end = block.find(b"\n")
    while end >= 0 and block.count(b'"', 0, end) % 2:
        end = block.find(b"\n", end + 1)
    return block[: end + 1]


def first_records(block: bytes, size: int) -> bytes:
    """Those that are within ``size`` bytes; all if none is."""
    return block[: _end(block[:size]) or None]


def splits_alike(block: bytes) -> bool:
    """Do marks enclose whole cells, do lines end with ``\\n``, and is there no NUL and no line that begins blank?

    The block begins with a record.
    """
    import numpy as np

    if b"\0" in block or block.startswith(codecs.BOM_UTF8) or block[0] in BLANK:
        return False
    cells = np.frombuffer(block, dtype=np.uint8)
    blank = adjacent(block, b"\n", BLANK)  # where lines begin so, perhaps within quotation marks
    if b'"' not in block:
        return not len(blank) and b"\r" not in block
    quotes = np.flatnonzero(cells == ord('"'))
    opening, closing = quotes[::2], quotes[1::2]
    if len(opening) != len(closing):
        return False
    before, after = cells[opening[opening > 0] - 1], cells[closing[closing < len(cells) - 1] + 1]
    if not (np.isin(before, _BESIDE).all() and np.isin(after, _BESIDE).all()):
        return False
    if b"\r" in block and (quotes.searchsorted(np.flatnonzero(cells == ord("\r"))) % 2 == 0).any():
        return False
    return bool((quotes.searchsorted(blank) % 2 == 1).all())


def adjacent(block: bytes, first: bytes, second: bytes) -> NDArray[np.intp]:
    """The places of bytes of ``second`` that come right after one of ``first``."""
    import numpy as np

    cells, found = np.frombuffer(block, dtype=np.uint8), [np.empty(0, dtype=np.intp)]
    for start in range(0, len(cells), _CACHED):
        part = cells[start : start + _CACHED + 1]
        here = _any_of(part[:-1], first) & _any_of(part[1:], second)
        if here.any():
            found.append(np.flatnonzero(here) + start + 1)
    return np.concatenate(found)


def count(block: bytes, character: bytes) -> int:
    """How often there is this one, even every few bytes; ``bytes.count`` would take five times as long."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _CACHED)
    return sum(int(np.count_nonzero(cells[start : start + _CACHED] == character[0])) for start in starts)


def _any_of(cells: NDArray[np.uint8], characters: bytes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = cells == characters[0]
    for character in characters[1:]:
        found |= cells == character
    return found


def _end(block: bytes) -> int:
    """The place after the last end of a line outside of quotation marks; 0 if there is none."""
    import numpy as np

    end = block.rfind(b"\n")
    if block.count(b'"', 0, end + 1) % 2 == 0:
        return end + 1
    cells = np.frombuffer(block, dtype=np.uint8)
    ends, quotes = np.flatnonzero(cells == ord("\n")), np.flatnonzero(cells == ord('"'))
    outside = ends[quotes.searchsorted(ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0
