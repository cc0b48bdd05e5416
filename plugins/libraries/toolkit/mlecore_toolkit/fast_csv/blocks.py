"""Cuts a CSV file into blocks of whole rows, and checks that all parsers split a block into the same cells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from mlecore_toolkit.fast_csv.options import Uncertain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_END, _RETURN, _MARK, _COMMA = b'\n\r",'
_BESIDE = b',\n"'  # bytes that may precede an opening quote or follow a closing one
_BLANK = b"\n \t"  # a line that begins with one of them may be skipped by pandas
_STEP = 1 << 17  # bytes per step, so that masks fit a processor's cache


def blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The whole stream, cut at line ends outside quotes.

    After a row that is larger than a block, all the rest comes as one block, so that each byte is checked only a few
    times. After a stray quote (see ``row_ends``) the cuts are meaningless.
    """
    left, inside = b"", False  # the bytes after the last cut; are they inside quotes?
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


def header_line(block: bytes) -> bytes:
    """The header with its line end; empty if there is none."""
    end = block.find(b"\n")
    while end >= 0 and block.count(b'"', 0, end) % 2:
        end = block.find(b"\n", end + 1)
    return block[: end + 1]


def first_rows(block: bytes, size: int) -> bytes:
    """The rows within the first ``size`` bytes; all rows if the first is longer."""
    return block[: _end(block[:size]) or None]


def row_ends(block: bytes) -> NDArray[np.bool_]:
    """For each byte of a block that begins with a row: does it end a row? Raises Uncertain if parsers may differ.

    They agree if quotes enclose whole cells, lines end with ``\\n``, there is no NUL, and no line begins blank.
    """
    import numpy as np

    if not block or b"\0" in block or block.startswith(codecs.BOM_UTF8) or block[0] in _BLANK:
        raise Uncertain
    cells, found = np.frombuffer(block, dtype=np.uint8), np.empty(len(block), dtype=bool)
    returns, inside = b"\r" in block, False  # inside quotes?
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
    """Running parity of quotes: True where an odd number has occurred so far. Works on 64 bits at once."""
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
    """Does a line, inside or outside quotes, begin with a blank, or is it empty?"""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _STEP)
    return block[0] in _BLANK or any(_blank_follows(cells, at, cells[at : at + _STEP] == _END) for at in starts)


def _blank_follows(cells: NDArray[np.uint8], start: int, ends: NDArray[np.bool_]) -> bool:
    """Does a line after one of these line ends, which count from ``start``, begin blank?"""
    following = cells[start + 1 : start + 1 + len(ends)]
    suspect = (following <= max(_BLANK)) & ends[: len(following)]
    return bool(suspect.any() and _among(following[suspect], _BLANK).any())


def count(block: bytes | memoryview, character: bytes) -> int:
    """The number of a frequent character; many times faster than ``bytes.count``."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(cells), _STEP)
    return sum(int(np.count_nonzero(cells[start : start + _STEP] == character[0])) for start in starts)


def _end(block: bytes, inside: bool = False) -> int:
    """The offset after the last line end outside quotes; 0 if there is none.

    ``inside``: the block begins inside quotes.
    """
    for start in (max(0, len(block) - _STEP), 0):  # usually it is near the end
        quotes, ends = (_places(block[start:], byte) for byte in (b'"', b"\n"))
        before = (count(memoryview(block)[:start], b'"') % 2 == 1) != inside
        outside = ends[quotes.searchsorted(ends) % 2 == before]
        if len(outside):
            return start + int(outside[-1]) + 1
    return 0


def _places(block: bytes, byte: bytes) -> NDArray[np.intp]:
    """The offsets of a byte."""
    import numpy as np

    cells = np.frombuffer(block, dtype=np.uint8)
    starts = range(0, len(block), _STEP)
    return np.concatenate([np.flatnonzero(cells[start : start + _STEP] == ord(byte)) + start for start in starts])


def _among(cells: NDArray[np.uint8], some: bytes) -> NDArray[np.bool_]:
    import numpy as np

    known = np.zeros(256, dtype=bool)  # faster than numpy.isin
    known[list(some)] = True
    return known[cells]
