"""Large tables of nothing but numbers, read by polars if that gives what pandas reads."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.prepare.tables import read_csv

if TYPE_CHECKING:
    import polars as pl
    from pandas import DataFrame

_WORTHWHILE = 16 << 20  # bytes; pandas reads a smaller table in the time that importing polars takes
_SAMPLE = 10_000  # rows that types are guessed from


def read_numbers(path: Path) -> DataFrame:
    """``read_csv(path)`` of a large table of numbers, in a third of its time and of its memory.

    Whole numbers are int8 if they fit: for passing on and comparing, not for arithmetic. Written again they have the
    same bytes. A table that pandas might read differently (gaps, text, infinities, whole numbers beyond 64 bits
    ...) is left to pandas. Raises DataError as ``read_csv`` does.
    """
    table = _by_polars(path) if path.is_file() and path.stat().st_size >= _WORTHWHILE else None
    return read_csv(path) if table is None else table


def _by_polars(path: Path) -> DataFrame | None:
    """The table, or None if it is not certain that pandas reads the same."""
    import pandas as pd
    import polars as pl

    with suppress(pl.exceptions.PolarsError):
        head = pl.read_csv(path, n_rows=_SAMPLE, infer_schema_length=_SAMPLE)
        if head.columns != list(pd.read_csv(path, nrows=0).columns):  # such as repeated names
            return None
        if not set(head.dtypes) <= {pl.Int64(), pl.Float64()}:
            return None
        for types in (list(map(_small, head)), head.dtypes):
            with suppress(pl.exceptions.ComputeError):  # another type is needed further down
                table = pl.read_csv(path, schema_overrides=dict(zip(head.columns, types, strict=True)))
                if not all(map(_certain, table)):
                    return None
                return _frame(table)
    return None


def _frame(table: pl.DataFrame) -> DataFrame:
    """As pandas holds it; the cells of a row are adjacent, so that a shuffle moves rows, not cells."""
    import pandas as pd

    pieces = []
    for _, neighbours in groupby(table.columns, key=lambda name: table[name].dtype):
        names = list(neighbours)
        pieces.append(pd.DataFrame(table.select(names).to_numpy(order="c"), columns=names, copy=False))
    return pd.concat(pieces, axis=1, copy=False)


def _small(column: pl.Series) -> pl.DataType:
    """int8 if a column's first rows allow it; else its type."""
    import polars as pl

    return pl.Int8() if column.dtype.is_integer() and column.is_between(-128, 127).all() else column.dtype


def _certain(column: pl.Series) -> bool:
    """Does pandas, which types blocks of rows, read the same numbers?

    There are no gaps. A block may have no decimals, so numbers must be small enough to be exact in float64; infinities
    may be text to pandas (``1e400``), and ``-0`` is -0.0 only in a block with decimals.
    """
    import numpy as np

    if column.null_count():
        return False
    if column.dtype.is_integer():
        return True
    values = column.to_numpy()
    return bool((np.abs(values) < 2.0**53).all() and not (np.signbit(values) & (values == 0)).any())
