"""Writes CSV lines with polars, with the bytes of pandas' ``to_csv``: text, integers, decimals, booleans.

Polars writes very small and large decimals, booleans, empty text and lone carriage returns differently. So columns with
such decimals and booleans become text, and empty text becomes a missing cell. Pandas writes the rest.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

_LONE_RETURN = re.compile(rb"\r(?!\n)")
_PLAIN = 1e-4, 1e15  # decimals in this range are written without an exponent


def lines(table: pl.DataFrame, quoting: int = csv.QUOTE_MINIMAL, float_format: str | None = None) -> bytes | None:
    """All rows, without a header, as ``to_csv(index=False, quoting=..., float_format=...)`` writes them.

    None if pandas must write them.
    """
    import polars as pl

    # Python's csv module puts quotes around the only cell of a line if it is empty
    if table.width < 2 or quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        return None
    columns = []
    for place, cells in enumerate(table):
        column = _column(cells, quoting, float_format)
        if column is None:
            return None
        columns.append(column.alias(str(place)))
    out = io.BytesIO()
    style: Literal["necessary", "non_numeric"] = "necessary" if quoting == csv.QUOTE_MINIMAL else "non_numeric"
    pl.DataFrame(columns).write_csv(out, include_header=False, quote_style=style)
    data = out.getvalue()
    if b"\r" in data and _LONE_RETURN.search(data) and any(map(_lone_return, table)):
        return None
    return data


def printed(column: pl.Series) -> pl.Series:
    """The cells of a column as text, as they are written."""
    import polars as pl

    return _plain(column).cast(pl.String)


def _column(column: pl.Series, quoting: int, float_format: str | None) -> pl.Series | None:
    """A column ready for polars; None if pandas must write it."""
    import polars as pl

    if column.dtype == pl.String:
        return _text(column, quoting)
    if column.dtype.is_integer() and not column.null_count():
        return column
    if quoting != csv.QUOTE_MINIMAL:  # text would get quotes
        return None
    if column.dtype != pl.Float64 or float_format is None:
        return _plain(column)
    numbers = column.fill_nan(None).to_list()
    return pl.Series([None if number is None else float_format % number for number in numbers], dtype=pl.String)


def _lone_return(column: pl.Series) -> bool:
    """Is a cell quoted only because of a carriage return? Polars does that, Python's csv from 3.13 on."""
    import polars as pl

    if column.dtype != pl.String:
        return False
    odd = column.filter(column.str.contains("\r", literal=True))
    return bool((~odd.str.contains('[\n,"]')).any())


def _text(column: pl.Series, quoting: int) -> pl.Series:
    if quoting == csv.QUOTE_NONNUMERIC:
        return column.fill_null("")
    return column.replace("", None) if (column == "").any() else column


def _plain(column: pl.Series) -> pl.Series:
    """Polars writes the shortest digits, as pandas does, but very small and large numbers without exponent."""
    import numpy as np
    import polars as pl

    if column.dtype == pl.Boolean:
        return column.replace_strict({True: "True", False: "False"}, return_dtype=pl.String)
    if column.dtype != pl.Float64:
        return column
    array = column.to_numpy()
    sizes = np.abs(array)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(((sizes < _PLAIN[0]) & (sizes > 0)) | (sizes >= _PLAIN[1]))
    column = column.fill_nan(None)
    return column.cast(pl.String).scatter(rows, list(map(repr, array[rows].tolist()))) if len(rows) else column
