"""Splits long cells into words piece by piece, because a list of all words takes thirty times the cell's size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Word = Literal["text", "number", "integer"]  # the type of a word in a record

_SIZE = 1 << 16  # characters of a piece, up to the end of its last word
_SPACE, _BLANK = re.compile(r"\s"), re.compile(" ")


def pieces(cell: str, *, single: bool = False) -> Iterator[str]:
    """Cut ``cell`` at white space (``single``: at a blank), which is dropped at each cut.

    Together, the words of the pieces are those of ``cell.split()`` (``cell.split(" ")``).
    """
    space, start = _BLANK if single else _SPACE, 0
    while len(cell) - start > _SIZE and (cut := space.search(cell, start + _SIZE)):
        yield cell[start : cut.start()]
        start = cut.end()
    yield cell[start:] if start else cell


def words(cell: str, *, single: bool = False) -> Iterator[str]:
    """The words of ``cell.split()`` (``single``: of ``cell.split(" ")``)."""
    separator = " " if single else None
    if len(cell) <= _SIZE:  # half the time of the generator
        return iter(cell.split(separator))
    return (word for piece in pieces(cell, single=single) for word in piece.split(separator))
