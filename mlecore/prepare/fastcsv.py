"""CSV lines of plain columns by polars, if they have the bytes of pandas' ``to_csv``: text, integers, floats.

Polars differs from pandas in how it writes floats, booleans, empty text and lone carriage returns. So floats and
booleans are turned into Python's text here, empty text into a missing cell, and the rest is left to pandas.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

_WORTHWHILE = 200_000  # cells; for fewer, importing polars takes longer than pandas


def worthwhile(table: DataFrame) -> bool:
    """Is the table large enough to be worth it?"""
    return bool(table.size >= _WORTHWHILE)


def lines(table: DataFrame, quoting: int) -> bytes | None:
    """All rows, no header, as ``to_csv(index=False, quoting=quoting)`` writes them; None if pandas must do it."""
    import polars as pl

    # a line that is one empty cell gets quotes from Python's csv module
    if table.shape[1] < 2 or quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        return None
    columns = []
    for position in range(table.shape[1]):
        column = _column(table.iloc[:, position], quoting)
        if column is None:
            return None
        columns.append(column.alias(str(position)))
    out = io.BytesIO()
    style: Literal["necessary", "non_numeric"] = "necessary" if quoting == csv.QUOTE_MINIMAL else "non_numeric"
    pl.DataFrame(columns).write_csv(out, include_header=False, quote_style=style)
    return out.getvalue()


def _column(values: Series, quoting: int) -> pl.Series | None:
    """A polars Series that is written as pandas writes ``values``, or None."""
    import numpy as np
    import pandas as pd
    import polars as pl

    if not isinstance(values.dtype, np.dtype):  # a category, a date with a zone ...
        return None
    array = values.to_numpy()
    if array.dtype.kind in "iu":
        return pl.Series(array)
    if array.dtype.kind == "O":
        if pd.api.types.infer_dtype(array, skipna=True) not in ("string", "empty"):
            return None
        return _text(array, values.isna().to_numpy(), quoting)
    if quoting != csv.QUOTE_MINIMAL:  # these would be text to polars, and get quotes
        return None
    if array.dtype.kind == "b":
        return pl.Series(np.array(["False", "True"], dtype=object)[array.astype(int)].tolist(), dtype=pl.String)
    if array.dtype == np.float64:
        codes, bits = pd.factorize(np.ascontiguousarray(array).view(np.int64))  # bits: 0.0 is not -0.0
        numbers = bits.view(np.float64)
        texts = np.array([None if number != number else repr(number) for number in numbers.tolist()], dtype=object)
        return pl.Series(texts[codes].tolist(), dtype=pl.String)
    return None


def _text(array: NDArray[Any], missing: NDArray[np.bool_], quoting: int) -> pl.Series | None:
    import polars as pl

    none = None if quoting == csv.QUOTE_MINIMAL else ""  # bare, or ""
    cells = array.copy()
    cells[missing] = none
    try:
        column = pl.Series(cells.tolist(), dtype=pl.String)
    except (TypeError, UnicodeError, pl.exceptions.PolarsError):  # a lone surrogate
        return None
    if column.str.contains("\r", literal=True).any():  # quoted by polars, and by Python's csv from 3.13 on only
        return None
    return column.replace("", none) if none is None else column
