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
_STEP = 1 << 16  # bytes that are looked at together, whose masks fit a processor's cache


def blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole stream, cut at ends of lines that are not within quotation marks.

    After a record that is larger than a block, all the rest comes as one, so that each byte is looked at a few times
    only. Where marks are stray (see ``record_ends``), the cuts from there on mean nothing.
    """
    left = b""
    while chunk := stream.read(size):
        left += chunk
        del chunk  # so that no block is in memory twice while the caller works
        end = _end(left)
        if not end and len(left) > size:
            left += stream.read()
            end = len(left)
        if end:
            block, left = left[:end], left[end:]
            yield block
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
    ends = _places(block, b"\n")  # of lines
    if b'"' in block:
        quotes = _places(block, b'"')
        opening, closing = quotes[::2], quotes[1::2]
        if len(opening) != len(closing):
            return None
        before, after = cells[opening[opening > 0] - 1], cells[closing[closing < len(cells) - 1] + 1]
        if not (_among(before, _BESIDE).all() and _among(after, _BESIDE).all()):
            return None
        ends = ends[quotes.searchsorted(ends) % 2 == 0]
        if b"\r" in block and (quotes.searchsorted(_places(block, b"\r")) % 2 == 0).any():
            return None
    elif b"\r" in block:
        return None
    ends += 1
    if not len(ends) or ends[-1] < len(cells):
        ends = np.append(ends, len(cells))
    return None if _among(cells[ends[:-1]], _BLANK).any() else ends


def has_blank_line(block: bytes) -> bool:
    """Does a line begin with a blank or its end, within quotation marks or not?"""
    import numpy as np

    ends = _places(block, b"\n") + 1
    return block[0] in _BLANK or bool(_among(np.frombuffer(block, np.uint8)[ends[ends < len(block)]], _BLANK).any())


def count(block: bytes, character: bytes) -> int:
    """How often there is this one, even every few bytes; ``bytes.count`` would take five times as long."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _STEP)
    return sum(int(np.count_nonzero(cells[start : start + _STEP] == character[0])) for start in starts)


def _end(block: bytes) -> int:
    """The place after the last end of a line outside of quotation marks; 0 if there is none."""
    end = block.rfind(b"\n")
    quotes = _places(block, b'"')
    if quotes.searchsorted(end) % 2 == 0:
        return end + 1
    ends = _places(block, b"\n")
    outside = ends[quotes.searchsorted(ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _places(block: bytes, byte: bytes) -> NDArray[np.intp]:
    """Where a byte is."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(block), _STEP)
    return np.concatenate([np.flatnonzero(cells[start : start + _STEP] == ord(byte)) + start for start in starts])


def _among(cells: NDArray[np.uint8], some: bytes) -> NDArray[np.bool_]:
    import numpy as np

    known = np.zeros(256, dtype=bool)  # faster than numpy.isin
    known[list(some)] = True
    return known[cells]
