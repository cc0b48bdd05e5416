"""The words of a long cell, a piece of it at a time: a list of all of them would take thirty times its size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Word = Literal["text", "number", "integer"]  # how a word of a record is read

_SIZE = 1 << 16  # characters of a piece, and what is left of its last word
_SPACE, _BLANK = re.compile(r"\s"), re.compile(" ")


def pieces(cell: str, *, single: bool = False) -> Iterator[str]:
    """Parts of ``cell`` cut at white space (``single``: at a blank), which is left out where it was cut.

    So the words of the parts, one after the other, are those of ``cell.split()`` (``cell.split(" ")``).
    """
    space, start = _BLANK if single else _SPACE, 0
    while len(cell) - start > _SIZE and (cut := space.search(cell, start + _SIZE)):
        yield cell[start : cut.start()]
        start = cut.end()
    yield cell[start:] if start else cell


def words(cell: str, *, single: bool = False) -> Iterator[str]:
    """Those of ``cell.split()`` (``single``: of ``cell.split(" ")``)."""
    separator = " " if single else None
    if len(cell) <= _SIZE:  # half the time of the generator
        return iter(cell.split(separator))
    return (word for piece in pieces(cell, single=single) for word in piece.split(separator))
