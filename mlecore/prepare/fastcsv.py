"""CSV lines of plain columns by polars, if they have the bytes of pandas' ``to_csv``: text, integers, floats.

Polars differs from pandas in how it writes very small and large floats, booleans, empty text and lone carriage returns.
So those floats and booleans are turned into Python's text here, empty text into a missing cell, and the rest is left
to pandas.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

_CLEAR = 0.499  # from a whole number: it is the nearest one, in spite of rounding
_EXACT_POWER = 22  # powers of 10 up to it are exact as float64
_PLAIN = 1e-4, 1e15  # sizes of floats that are written without an exponent
_WORTHWHILE = 200_000  # cells; for fewer, importing polars takes longer than pandas


def worthwhile(table: DataFrame) -> bool:
    """Is the table large enough to be worth it?"""
    return bool(table.size >= _WORTHWHILE)


def lines(table: DataFrame, quoting: int, float_format: str | None = None) -> bytes | None:
    """All rows, no header, as ``to_csv(index=False, quoting=..., float_format=...)`` writes them; None if pandas must
    do it."""
    import polars as pl

    # a line that is one empty cell gets quotes from Python's csv module
    if table.shape[1] < 2 or quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        return None
    columns = []
    for position in range(table.shape[1]):
        column = _column(table.iloc[:, position], quoting, float_format)
        if column is None:
            return None
        columns.append(column.alias(str(position)))
    out = io.BytesIO()
    style: Literal["necessary", "non_numeric"] = "necessary" if quoting == csv.QUOTE_MINIMAL else "non_numeric"
    pl.DataFrame(columns).write_csv(out, include_header=False, quote_style=style)
    return out.getvalue()


def _column(values: Series, quoting: int, float_format: str | None) -> pl.Series | None:
    """A polars Series that is written as pandas writes ``values``, or None."""
    import numpy as np
    import polars as pl

    if not isinstance(values.dtype, np.dtype):  # a category, a date with a zone ...
        return None
    array = values.to_numpy()
    if array.dtype.kind in "iu":
        return pl.Series(array)
    if array.dtype.kind == "O":
        return _text(values, quoting)
    if quoting != csv.QUOTE_MINIMAL:  # these would be text to polars, and get quotes
        return None
    if array.dtype.kind == "b":
        return pl.Series(np.array(["False", "True"], dtype=object)[array.astype(int)].tolist(), dtype=pl.String)
    if array.dtype != np.float64:
        return None
    if float_format is None:
        return _floats(array)
    digits = re.fullmatch(r"%\.([1-9]|1[0-2])g", float_format)
    return _rounded(array, int(digits[1]), float_format) if digits else None


def _floats(array: NDArray[np.float64]) -> pl.Series:
    """Polars writes the shortest digits, too, but very small and large numbers in another form: ``0.00001``."""
    import numpy as np
    import polars as pl

    values = pl.Series(np.ascontiguousarray(array), nan_to_null=True)
    sizes = np.abs(array)
    others = np.flatnonzero(((sizes < _PLAIN[0]) & (sizes > 0)) | (sizes >= _PLAIN[1]))
    if not len(others):
        return values
    return values.cast(pl.String).scatter(others, list(map(repr, array[others].tolist())))


def _rounded(array: NDArray[np.float64], digits: int, float_format: str) -> pl.Series:
    """``%.<digits>g``: the nearest decimal of so many digits. Its own shortest digits are those; ``5.0`` becomes ``5``.

    Python formats what is almost in the middle between two decimals, or is written with an exponent.
    """
    import numpy as np
    import polars as pl

    sizes = np.abs(array)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(sizes))  # behind the point
        scale = 10.0 ** np.clip(
            places, 0, _EXACT_POWER
        )  # exact, and so are quotients of whole numbers, but for one rounding
        scaled = array * scale
        whole = np.rint(scaled)
        plain = (sizes >= _PLAIN[0]) & (places >= 0) & (np.abs(scaled - whole) < _CLEAR)
        plain &= (np.abs(whole) >= 10.0 ** (digits - 1)) & (np.abs(whole) < 10.0**digits)
    values = pl.Series(np.where(plain, whole / scale, array), nan_to_null=True)
    texts = values.cast(pl.String).str.strip_suffix(".0")
    others = np.flatnonzero(~plain & (sizes > 0))
    return texts.scatter(others, [float_format % number for number in array[others].tolist()])


def _text(values: Series, quoting: int) -> pl.Series | None:

    none = None if quoting == csv.QUOTE_MINIMAL else ""  # bare, or ""
    column = _strings(values.tolist())
    if column is None:
        column = _strings(_without_gaps(values))
    if column is None or _lone_return(column):
        return None
    return column.replace("", none) if none is None else column.fill_null(none)


def _lone_return(column: pl.Series) -> bool:
    """A cell in quotation marks for the sake of a carriage return: by polars, and by Python's csv from 3.13 on only."""
    odd = column.filter(column.str.contains("\r", literal=True))
    return bool((~odd.str.contains('[\n,"]')).any())


def _without_gaps(values: Series) -> list[Any]:
    """The cells, None being the only missing one."""
    return [None if gap else cell for cell, gap in zip(values.tolist(), values.isna().tolist(), strict=True)]


def _strings(cells: list[Any]) -> pl.Series | None:
    """None if there is anything but text and None, or a lone surrogate."""
    import polars as pl

    try:
        return pl.Series(cells, dtype=pl.String)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return None
