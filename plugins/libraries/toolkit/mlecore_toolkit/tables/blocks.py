"""A CSV file in blocks of whole records, and whether every parser splits a block into the same cells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from mlecore_toolkit.tables.options import Uncertain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_END, _RETURN, _MARK, _COMMA = b'\n\r",'
_BESIDE = b',\n"'  # may be before the mark that begins a cell, and behind the one that ends it
_BLANK = b"\n \t"  # begin a line that pandas may skip
_STEP = 1 << 17  # bytes that are looked at together, whose masks fit a processor's cache


def blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole stream, cut at ends of lines that are not within quotation marks.

    After a record that is larger than a block, all the rest comes as one, so that each byte is looked at a few times
    only. Where marks are stray (see ``record_ends``), the cuts from there on mean nothing.
    """
    left, inside = b"", False  # what is behind the last cut; has it an open mark?
    while chunk := stream.read(size):
        end = _end(chunk, inside)
        if not end and len(left) + len(chunk) > size:
            chunk += stream.read()
            end = len(chunk)
        block = left + memoryview(chunk)[:end]  # one copy
        left = chunk[end:] if end else left + chunk
        inside = (inside and not end) != (count(chunk[end:], b'"') % 2 == 1)
        del chunk  # so that no block is in memory twice while the caller works
        if end:
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


def record_ends(block: bytes) -> NDArray[np.bool_]:
    """For each byte: does it end a record? Raises Uncertain if parsers may split the block, a record first, otherwise.

    They do not if marks enclose whole cells, lines end with ``\\n``, there is no NUL, and no line begins blank.
    """
    import numpy as np

    if not block or b"\0" in block or block.startswith(codecs.BOM_UTF8) or block[0] in _BLANK:
        raise Uncertain
    cells, found = np.frombuffer(block, dtype=np.uint8), np.empty(len(block), dtype=bool)
    returns, inside = b"\r" in block, False  # inside of marks?
    for start in range(0, len(cells), _STEP):
        some = cells[start : start + _STEP]
        ends = np.equal(some, _END, out=found[start : start + _STEP])
        if inside or returns or block.find(b'"', start, start + _STEP) >= 0:
            marks = some == _MARK
            within = _odd_so_far(marks) ^ inside
            beside = ends | marks | (some == _COMMA)
            opening, closing = marks & within, marks > within
            if (opening[1:] > beside[:-1]).any() or (closing[:-1] > beside[1:]).any():
                raise Uncertain
            if opening[0] and block[max(0, start - 1) : start] not in _BESIDE:
                raise Uncertain
            if closing[-1] and block[start + _STEP : start + _STEP + 1] not in _BESIDE:
                raise Uncertain
            if returns and ((some == _RETURN) & ~within).any():
                raise Uncertain
            ends &= ~within
            inside = bool(within[-1])
        if _blank_follows(cells, start, ends):
            raise Uncertain
    if inside:
        raise Uncertain
    found[-1] = True
    return found


def _odd_so_far(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """At each place: is the number of marks, up to this place and with it, odd? 64 bits at once."""
    import numpy as np

    bits = np.zeros(-(-len(marks) // 64) * 8, dtype=np.uint8)
    bits[: -(-len(marks) // 8)] = np.packbits(marks)
    words = bits.view(">u8").astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words >> np.uint64(shift)
    odd = np.bitwise_xor.accumulate(words & np.uint64(1))
    words[1:] ^= -odd[:-1]  # no bits, or all
    return np.unpackbits(words.astype(">u8").view(np.uint8), count=len(marks)).view(bool)


def has_blank_line(block: bytes) -> bool:
    """Does a line begin with a blank or its end, within quotation marks or not?"""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _STEP)
    return block[0] in _BLANK or any(_blank_follows(cells, at, cells[at : at + _STEP] == _END) for at in starts)


def _blank_follows(cells: NDArray[np.uint8], start: int, ends: NDArray[np.bool_]) -> bool:
    """Does a line that begins behind one of these ends, from ``start`` on, begin blank?"""
    following = cells[start + 1 : start + 1 + len(ends)]
    suspect = (following <= max(_BLANK)) & ends[: len(following)]
    return bool(suspect.any() and _among(following[suspect], _BLANK).any())


def count(block: bytes | memoryview, character: bytes) -> int:
    """How often there is this one, even every few bytes; ``bytes.count`` would take five times as long."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _STEP)
    return sum(int(np.count_nonzero(cells[start : start + _STEP] == character[0])) for start in starts)


def _end(block: bytes, inside: bool = False) -> int:
    """The place after the last end of a line outside of quotation marks; 0 if there is none.

    ``inside``: the block begins within marks.
    """
    for start in (max(0, len(block) - _STEP), 0):  # mostly it is near the end
        quotes, ends = (_places(block[start:], byte) for byte in (b'"', b"\n"))
        before = (count(memoryview(block)[:start], b'"') % 2 == 1) != inside
        outside = ends[quotes.searchsorted(ends) % 2 == before]
        if len(outside):
            return start + int(outside[-1]) + 1
    return 0


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
