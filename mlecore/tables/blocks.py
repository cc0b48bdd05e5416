"""A CSV file in blocks of whole records, and whether every parser splits a block into the same cells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BESIDE = b',\n"'  # may be before the mark that begins a cell, and behind the one that ends it
_BLANK = b"\n \t"  # begin a line that pandas may skip


def blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole stream, cut at ends of lines that are not within quotation marks.

    After a record that is larger than a block, all the rest comes as one, so that each byte is looked at a few times
    only. Where marks are stray (see ``record_ends``), the cuts from there on mean nothing.
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


def record_ends(block: bytes) -> NDArray[np.intp] | None:
    """The place behind each record; None if parsers may split the block differently. It begins with a record.

    They do not if marks enclose whole cells, lines end with ``\\n``, there is no NUL, and no line begins blank.
    """
    import numpy as np

    if not block or b"\0" in block or block.startswith(codecs.BOM_UTF8) or block[0] in _BLANK:
        return None
    cells = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(cells == ord("\n"))  # of lines
    if b'"' in block:
        quotes = np.flatnonzero(cells == ord('"'))
        opening, closing = quotes[::2], quotes[1::2]
        if len(opening) != len(closing):
            return None
        before, after = cells[opening[opening > 0] - 1], cells[closing[closing < len(cells) - 1] + 1]
        if not (_among(before, _BESIDE).all() and _among(after, _BESIDE).all()):
            return None
        ends = ends[quotes.searchsorted(ends) % 2 == 0]
        if b"\r" in block and (quotes.searchsorted(np.flatnonzero(cells == ord("\r"))) % 2 == 0).any():
            return None
    elif b"\r" in block:
        return None
    ends += 1
    if not len(ends) or ends[-1] < len(cells):
        ends = np.append(ends, len(cells))
    return None if _among(cells[ends[:-1]], _BLANK).any() else ends


def _end(block: bytes) -> int:
    """The place after the last end of a line outside of quotation marks; 0 if there is none."""
    import numpy as np

    end = block.rfind(b"\n")
    cells = np.frombuffer(block, dtype=np.uint8)
    if np.count_nonzero(cells[: end + 1] == ord('"')) % 2 == 0:  # much faster than bytes.count
        return end + 1
    ends, quotes = np.flatnonzero(cells == ord("\n")), np.flatnonzero(cells == ord('"'))
    outside = ends[quotes.searchsorted(ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _among(cells: NDArray[np.uint8], some: bytes) -> NDArray[np.bool_]:
    import numpy as np

    known = np.zeros(256, dtype=bool)  # faster than numpy.isin
    known[list(some)] = True
    return known[cells]
