"""CSV tables read by polars, if that certainly gives what pandas reads: whole numbers, plain decimals and text.

Pandas types blocks of rows, and a column gets the common type of its blocks. A table is left to pandas if that could
differ from typing whole columns (numbers in a column of text, whole numbers beyond 64 bits, -0, booleans with gaps), or
if the two might split it into cells differently. Whole numbers may have fewer bits here.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from mlecore_toolkit.tables.blocks import blocks
from mlecore_toolkit.tables.certainty import certain
from mlecore_toolkit.tables.joining import joined
from mlecore_toolkit.tables.options import Options, Uncertain
from mlecore_toolkit.tables.parsing import Parser

if TYPE_CHECKING:
    import polars as pl

_AT_ONCE = 8 << 20  # bytes that are parsed together
_PIECE = 16 << 20  # bytes that are typed together where a table comes in pieces


def read(stream: IO[bytes], options: Options) -> pl.DataFrame | None:
    """The table, or None if it is not certain that pandas reads the same."""
    import polars as pl

    parser, tables = Parser(options), []
    with suppress(Uncertain, pl.exceptions.PolarsError):
        for block in blocks(stream, _AT_ONCE):
            tables.append(parser.cells(block))
        if tables:
            return certain(_joined(tables), options, len(parser.names))
    return None


def read_pieces(stream: IO[bytes], options: Options) -> Iterator[pl.DataFrame | IO[bytes]]:
    """The table in pieces, each typed as the one before if it can be, or else by itself.

    If one is uncertain, the rest comes as a stream, with the header.
    """
    parser, parts = Parser(options), blocks(stream, _PIECE)
    block = b""
    for number, block in enumerate(parts):
        piece = _piece(parser, block, options)
        if piece is None:
            yield io.BufferedReader(_Rest(chain([parser.header if number else b"", block], parts)))
            return
        yield piece
    if not block:
        yield io.BytesIO()  # an empty file is for pandas to reject


def _piece(parser: Parser, block: bytes, options: Options) -> pl.DataFrame | None:
    """A block with the types of the piece before, or else with its own; None if it is uncertain."""
    import polars as pl

    while True:
        kept = parser.types is not None
        with suppress(Uncertain, pl.exceptions.PolarsError):
            return certain(parser.cells(block), options, len(parser.names))
        if not kept:
            return None
        parser.types = None


class _Rest(io.RawIOBase):
    """A stream of blocks."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._part = parts, io.BytesIO()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not (count := self._part.readinto(buffer)):
            part = next(self._parts, None)
            if part is None:
                return 0
            self._part = io.BytesIO(part)
        return count


def _joined(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Blocks of one table; numbers get their common type. Raises Uncertain if a column has numbers and others."""
    kinds = [["number" if dtype.is_numeric() else dtype for dtype in table.dtypes] for table in tables]
    if any(other != kinds[0] for other in kinds):
        raise Uncertain
    return joined(tables)
