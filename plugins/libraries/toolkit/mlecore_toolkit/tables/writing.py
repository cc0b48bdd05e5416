"""CSV lines by polars, if they have the bytes of pandas' ``to_csv``: text, integers, decimals, booleans.

Polars differs from pandas in how it writes very small and large decimals, booleans, empty text and lone carriage
returns. So polars writes a mark for each of those numbers, which Python's text replaces in the lines; booleans become
text, empty text a missing cell, and the rest is left to pandas.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_LONE_RETURN = re.compile(rb"\r(?!\n)")
_MARK = -123456789012345.67  # which no one writes
_CLEAR = 0.499  # from a whole number: it is the nearest one, in spite of rounding
_MANY = 8  # times as many cells; as text, they are written faster than replaced
_EXACT_POWER = 22  # powers of 10 up to it are exact as float64
_PLAIN = 1e-4, 1e15  # sizes of decimals that are written without an exponent


def lines(table: pl.DataFrame, quoting: int = csv.QUOTE_MINIMAL, float_format: str | None = None) -> bytes | None:
    """All rows, no header, as ``to_csv(index=False, quoting=..., float_format=...)`` writes them.

    None if pandas must do it.
    """
    import polars as pl

    # a line that is one empty cell gets quotes from Python's csv module
    if table.width < 2 or quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        return None
    columns, odd = [], []
    for place, cells in enumerate(table):
        column = _column(cells, quoting, float_format)
        if column is None:
            return None
        columns.append(column.values.alias(str(place)))
        odd += [column] if column.rows is not None else []
    out = io.BytesIO()
    style: Literal["necessary", "non_numeric"] = "necessary" if quoting == csv.QUOTE_MINIMAL else "non_numeric"
    pl.DataFrame(columns).write_csv(out, include_header=False, quote_style=style)
    data = out.getvalue()
    if b"\r" in data and _LONE_RETURN.search(data) and any(map(_lone_return, table)):
        return None
    return _replaced(data, odd) if odd else data


@frozen
class _Column:
    """A column that polars writes as pandas writes it, but for the mark in some ``rows``, which is for ``texts``."""

    values: pl.Series
    rows: NDArray[np.intp] | None = None
    texts: Sequence[str] = ()


def _replaced(data: bytes, columns: list[_Column]) -> bytes | None:
    """The lines with texts in place of marks; None if there are others."""
    import numpy as np

    parts = data.split(str(_MARK).encode())
    rows = np.concatenate([column.rows for column in columns])
    texts = "\n".join(chain.from_iterable(column.texts for column in columns)).encode().split(b"\n")
    if len(parts) != len(texts) + 1:
        return None
    whole = [b""] * (2 * len(texts) + 1)
    whole[::2] = parts
    whole[1::2] = [texts[place] for place in np.argsort(rows, kind="stable").tolist()]
    return b"".join(whole)


def printed(column: pl.Series) -> pl.Series:
    """A column of text: the cells as they are written."""
    import polars as pl

    plain = _plain(column)
    texts = plain.values.cast(pl.String)
    return texts if plain.rows is None else texts.scatter(plain.rows, plain.texts)


def _column(column: pl.Series, quoting: int, float_format: str | None) -> _Column | None:
    """How to write a column, if it is not for pandas."""
    import polars as pl

    if column.dtype == pl.String:
        return _Column(_text(column, quoting))
    if column.dtype.is_integer() and not column.null_count():
        return _Column(column)
    if quoting != csv.QUOTE_MINIMAL:  # what becomes text would get quotes
        return None
    if column.dtype != pl.Float64 or float_format is None:
        return _plain(column)
    digits = re.fullmatch(r"%\.([1-9]|1[0-2])g", float_format)
    return _rounded(column, int(digits[1]), float_format) if digits else None


def _lone_return(column: pl.Series) -> bool:
    """A cell in quotation marks for the sake of a carriage return: by polars, and by Python's csv from 3.13 on only."""
    import polars as pl

    if column.dtype != pl.String:
        return False
    odd = column.filter(column.str.contains("\r", literal=True))
    return bool((~odd.str.contains('[\n,"]')).any())


def _text(column: pl.Series, quoting: int) -> pl.Series:
    if quoting == csv.QUOTE_NONNUMERIC:
        return column.fill_null("")
    return column.replace("", None) if (column == "").any() else column


def _plain(column: pl.Series) -> _Column:
    """Polars writes the shortest digits, too, but very small and large numbers in another form: ``0.00001``."""
    import numpy as np
    import polars as pl

    if column.dtype == pl.Boolean:
        return _Column(column.replace_strict({True: "True", False: "False"}, return_dtype=pl.String))
    if column.dtype != pl.Float64:
        return _Column(column)
    array = column.to_numpy()
    sizes = np.abs(array)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(((sizes < _PLAIN[0]) & (sizes > 0)) | (sizes >= _PLAIN[1]))
    if np.isnan(array).any():
        column = column.fill_nan(None)
    return _with_texts(column, rows, list(map(repr, array[rows].tolist())))


def _rounded(column: pl.Series, digits: int, float_format: str) -> _Column:
    """``%.<digits>g``: the nearest decimal of so many digits. Its own shortest digits are those; ``5.0`` becomes ``5``.

    Python formats what is almost in the middle between two decimals, or is written with an exponent.
    """
    import numpy as np
    import polars as pl

    array = column.to_numpy()
    sizes = np.abs(array)
    with np.errstate(divide="ignore", invalid="ignore"):
        places = digits - 1 - np.floor(np.log10(sizes))  # behind the point
        # powers are exact, and so are quotients of whole numbers, but for one rounding
        scale = np.take(10.0 ** np.arange(_EXACT_POWER + 1), places.astype(np.intp), mode="clip")
        scaled = array * scale
        whole = np.rint(scaled)
        plain = (sizes >= _PLAIN[0]) & (places >= 0) & (np.abs(scaled - whole) < _CLEAR)
        plain &= (np.abs(whole) >= 10.0 ** (digits - 1)) & (np.abs(whole) < 10.0**digits)
    values = np.where(plain, whole / scale, array)
    whole_numbers = values == np.rint(values)
    many = _MANY * np.count_nonzero(whole_numbers) > len(values)
    rows = np.flatnonzero((sizes > 0) & ~plain | (whole_numbers & (not many)))
    texts = [float_format % number for number in array[rows].tolist()]
    rounded = _with_texts(pl.Series(values, nan_to_null=True), rows, texts)
    return evolve(rounded, values=rounded.values.cast(pl.String).str.strip_suffix(".0")) if many else rounded


def _with_texts(column: pl.Series, rows: NDArray[np.intp], texts: list[str]) -> _Column:
    """A column with these texts in these rows."""
    import polars as pl

    if not texts:
        return _Column(column)
    if _MANY * len(texts) > len(column):
        return _Column(column.cast(pl.String).scatter(rows, texts))
    return _Column(column.clone().scatter(rows, _MARK), rows, texts)
