"""A CSV file in blocks of whole records, and whether every parser splits a block into the same cells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO

_BESIDE = tuple(b',\n"')  # may be before the mark that begins a cell, and behind the one that ends it
_BLANK = tuple(b"\n \t")  # begin a line that pandas may skip


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

    if b"\0" in block or block.startswith(codecs.BOM_UTF8) or block[0] in _BLANK:
        return False
    cells = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(cells == ord("\n"))
    if b'"' in block:
        quotes = np.flatnonzero(cells == ord('"'))
        opening, closing = quotes[::2], quotes[1::2]
        if len(opening) != len(closing):
            return False
        before, after = cells[opening[opening > 0] - 1], cells[closing[closing < len(cells) - 1] + 1]
        if not (np.isin(before, _BESIDE).all() and np.isin(after, _BESIDE).all()):
            return False
        ends = ends[quotes.searchsorted(ends) % 2 == 0]  # of lines
        if b"\r" in block and (quotes.searchsorted(np.flatnonzero(cells == ord("\r"))) % 2 == 0).any():
            return False
    elif b"\r" in block:
        return False
    return not np.isin(cells[ends[ends < len(cells) - 1] + 1], _BLANK).any()


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
