"""Pieces of one table, each typed by itself, as one: with the columns' common types, as pandas joins them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mlecore_toolkit.tables.writing import printed

if TYPE_CHECKING:
    import polars as pl


def joined(pieces: list[pl.DataFrame]) -> pl.DataFrame:
    """The table; its columns are contiguous. Empties the list, so that no column is in memory twice."""
    import polars as pl

    types = common_types(piece.schema for piece in pieces)
    columns = [{column.name: column for column in piece} for piece in pieces]
    pieces.clear()
    return pl.DataFrame(
        [pl.concat([_cast(each.pop(name), dtype) for each in columns], rechunk=True) for name, dtype in types.items()]
    )


def common_types(schemas: Iterable[Mapping[str, pl.DataType]]) -> dict[str, pl.DataType]:
    """Numbers are decimals if some are; what else has several types becomes text, as it would be written."""
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
