"""Pieces of one table, each typed by itself, as one: with the columns' common types, as pandas joins them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mlecore.tables.writing import printed

if TYPE_CHECKING:
    import polars as pl


def joined(pieces: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The table; its columns are contiguous. The pieces are empty afterwards, so that no column is kept twice."""
    import polars as pl

    types = common_types(piece.schema for piece in pieces)
    return pl.DataFrame(
        [pl.concat([cast(piece.drop_in_place(name), types[name]) for piece in pieces], rechunk=True) for name in types]
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


def cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column with its common type."""
    return printed(column) if dtype == "String" and column.dtype != dtype else column.cast(dtype)
