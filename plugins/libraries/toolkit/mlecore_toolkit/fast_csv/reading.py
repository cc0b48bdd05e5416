"""Reads CSV tables with polars where the result is certainly that of pandas: whole numbers, plain decimals and text.

Pandas types blocks of rows, and a column gets the common type of its blocks. A table is left to pandas if that may
differ from typing whole columns (numbers in a column of text, whole numbers beyond 64 bits, -0, booleans with gaps), or
if the two may split it into cells differently. Whole numbers may have fewer bits here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from mlecore_toolkit.fast_csv.blocks import blocks
from mlecore_toolkit.fast_csv.certainty import certain
from mlecore_toolkit.fast_csv.options import Options, Uncertain
from mlecore_toolkit.fast_csv.parsing import Parser
from mlecore_toolkit.fast_csv.writing import printed

if TYPE_CHECKING:
    import polars as pl

_AT_ONCE = 8 << 20  # bytes parsed together
_PIECE = 16 << 20  # bytes typed together when a table is read in pieces


def read(stream: IO[bytes], options: Options) -> pl.DataFrame | None:
    """The table, or None if pandas may read it differently."""
    import polars as pl

    parser, tables = Parser(options), []
    with suppress(Uncertain, pl.exceptions.PolarsError):
        for block in blocks(stream, _AT_ONCE):
            tables.append(parser.cells(block))
        if tables:
            return certain(_joined(tables), options, len(parser.names))
    return None


def read_pieces(stream: IO[bytes], options: Options) -> Iterator[pl.DataFrame | IO[bytes]]:
    """The table in pieces. Each has the types of the previous one if they fit, else its own.

    If a piece is uncertain, the rest follows as a stream, with the header.
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
        yield io.BytesIO()  # pandas rejects an empty file


def _piece(parser: Parser, block: bytes, options: Options) -> pl.DataFrame | None:
    """A block with the types of the previous piece, or else its own; None if it is uncertain."""
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
    """Join blocks; numbers get their common type. Raises Uncertain if a column also has something else."""
    kinds = [["number" if dtype.is_numeric() else dtype for dtype in table.dtypes] for table in tables]
    if any(other != kinds[0] for other in kinds):
        raise Uncertain
    return joined(tables)


def joined(pieces: list[pl.DataFrame]) -> pl.DataFrame:
    """The joined table, with contiguous columns. Empties the list, so that no column is in memory twice."""
    import polars as pl

    types = common_types(piece.schema for piece in pieces)
    columns = [{column.name: column for column in piece} for piece in pieces]
    pieces.clear()
    return pl.DataFrame(
        [pl.concat([_cast(each.pop(name), dtype) for each in columns], rechunk=True) for name, dtype in types.items()]
    )


def common_types(schemas: Iterable[Mapping[str, pl.DataType]]) -> dict[str, pl.DataType]:
    """Whole numbers and decimals become decimals; other columns of several types become text, as it is written."""
    import polars as pl

    types: dict[str, pl.DataType] = {}
    for schema in schemas:
        for name, dtype in schema.items():
            known = types.setdefault(name, dtype)
            if known == dtype:
                continue
            if known.is_signed_integer() and dtype.is_signed_integer():
                types[name] = pl.Int64()
            elif known.is_numeric() and dtype.is_numeric():
                types[name] = pl.Float64()
            else:
                types[name] = pl.String()
    return types


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    import polars as pl

    if column.dtype == dtype:
        return column
    return printed(column) if dtype == pl.String else column.cast(dtype)
