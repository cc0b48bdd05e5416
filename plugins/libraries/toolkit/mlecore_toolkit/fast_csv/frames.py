"""Converts tables between pandas and polars, so that both are written with the same bytes."""

from __future__ import annotations

from itertools import groupby
from typing import IO, TYPE_CHECKING

from mlecore_toolkit.fast_csv import reading
from mlecore_toolkit.fast_csv.options import Options

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

POLARS_FROM_BYTES = 4 << 20  # bytes; pandas reads a smaller table in the time that importing polars takes
_SAMPLE = 10_000  # rows
_FEW = 0.5  # share of distinct texts below which equal ones share memory


def read(stream: IO[bytes], options: Options) -> DataFrame | None:
    """The table as pandas reads it; None if polars may read it differently."""
    table = reading.read(stream, options)
    if table is None:
        return None
    frame = to_pandas(table)
    wanted = {name: options.type(name) for name in frame.columns}
    wanted = {name: dtype for name, dtype in wanted.items() if dtype not in (None, str)}
    return frame.astype(wanted, copy=False) if wanted else frame  # astype({}) would split the columns


def to_pandas(table: pl.DataFrame) -> DataFrame:
    """A table of pandas: whole numbers are int64, missing numbers NaN.

    Neighbouring columns of numbers are stored row by row, so that a shuffle moves rows, not cells.
    """
    import pandas as pd
    import polars as pl

    parts = []
    types = {name: pl.Int64() if dtype.is_signed_integer() else dtype for name, dtype in table.schema.items()}
    for dtype, neighbours in groupby(types, key=types.__getitem__):
        names = list(neighbours)
        if dtype == pl.String:
            parts += [pd.Series(texts(table[name]), name=name).to_frame() for name in names]
        else:
            numbers = table.select(pl.col(names).cast(dtype)).to_numpy(order="c", writable=True)
            parts.append(pd.DataFrame(numbers, columns=names, copy=False))
    return pd.concat(parts, axis=1, copy=False)


def texts(column: pl.Series) -> NDArray[np.object_]:
    """The texts as pandas has them. Equal texts share memory if a sample has many."""
    import numpy as np
    import polars as pl

    first = column[:_SAMPLE]
    if first.n_unique() > len(first) * _FEW:
        cells = column.to_numpy(writable=True)
        if column.null_count():
            cells[column.is_null().to_numpy()] = np.nan
        return cells
    distinct = column.drop_nulls().unique()
    codes = column.cast(pl.Enum(distinct)).to_physical().fill_null(len(distinct)).to_numpy()
    cells = np.empty(len(distinct) + 1, dtype=object)
    cells[:-1], cells[-1] = distinct.to_numpy(), np.nan
    return np.asarray(cells[codes])


def to_polars(frame: DataFrame, *, mixed: bool = True) -> pl.DataFrame | None:
    """A table that is written with the bytes of ``frame``; None if only pandas can write its cells.

    Cells of ``mixed`` types become text. Columns are named by position unless their names are distinct texts.
    """
    import polars as pl

    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        names = [str(place) for place in range(len(names))]
    columns = []
    for place, name in enumerate(names):
        column = _column(frame.iloc[:, place], mixed)
        if column is None:
            return None
        columns.append(column.alias(name))
    return pl.DataFrame(columns)


def _column(values: Series, mixed: bool) -> pl.Series | None:
    import numpy as np
    import polars as pl

    if not isinstance(values.dtype, np.dtype):  # a category, a date with a zone ...
        return None
    array = values.to_numpy()
    if array.dtype.kind in "iub" or array.dtype == np.float64:
        return pl.Series(np.ascontiguousarray(array), nan_to_null=True)
    if array.dtype.kind != "O":
        return None
    cells = values.tolist()
    try:
        return pl.Series(cells, dtype=pl.String)
    except (TypeError, ValueError, pl.exceptions.PolarsError):  # a gap, a number, a lone surrogate
        gaps = values.isna().tolist()
    cells = [None if gap else str(cell) if mixed else cell for cell, gap in zip(cells, gaps, strict=True)]
    try:
        return pl.Series(cells, dtype=pl.String)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return None
