"""Checks that pandas would certainly read the cells that polars has parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlecore_toolkit.fast_csv.options import Options, Uncertain

if TYPE_CHECKING:
    import polars as pl

_WORDS = ("true", "false", "inf", "infinity", "nan")  # words that pandas may read as a number or a boolean
_EXACT = 2.0**53  # smaller whole numbers are exact as float64
_TOGETHER = 2**20  # the most cells that pandas types together


def certain(table: pl.DataFrame, options: Options, width: int) -> pl.DataFrame:
    """The table with pandas' types, except that whole numbers may be smaller. Raises Uncertain.

    ``width``: the number of columns in the file.
    """
    rows = 1  # that pandas types together, a power of two
    while rows * 2 < _TOGETHER // width:
        rows *= 2
    return table.with_columns([_certain(column, options, rows) for column in table])


def _certain(column: pl.Series, options: Options, rows: int) -> pl.Series:
    """The column, if pandas, which types ``rows`` rows at a time, reads the same values. Raises Uncertain."""
    import polars as pl

    wanted, kept = options.type(column.name), options.na_filter
    if column.dtype == pl.String:
        starts = range(0, len(column), rows) if wanted is not str else ()
        if wanted not in (None, str) or not all(_has_text(column[start : start + rows]) for start in starts):
            raise Uncertain
        return column if kept else column.fill_null("")
    whole = column.dtype.is_integer() and not column.null_count()
    if wanted is not None and wanted not in (float, "float64"):
        ok = whole and _fits(column, wanted)
    elif wanted is None and (whole or column.dtype == pl.Boolean):
        ok = not column.null_count()
    else:  # with a gap, or among decimals, whole numbers become float64
        ok = column.dtype.is_numeric() and column.null_count() < len(column) and (kept or not column.null_count())
        column = column.cast(pl.Float64)
        values = column.drop_nulls().to_numpy()
        ok = ok and bool(values.min() > -_EXACT and values.max() < _EXACT)  # False for NaN
    if not ok:
        raise Uncertain
    return column


def _fits(column: pl.Series, dtype: Any) -> bool:
    values = column.to_numpy()
    return bool((values == values.astype(dtype)).all())


def _has_text(cells: pl.Series) -> bool:
    """Is a cell certainly text, which makes all of them text? Infinities may be text to pandas (``1e400``)."""
    for some in (cells[:10], cells):  # usually the first one is
        letters = some.str.to_lowercase().str.strip_chars(" \t+-")
        if (some.str.contains(r"[^0-9eE.+\-\s]|[0-9.][+-]|[0-9]\s+[0-9]") & ~letters.is_in(_WORDS)).any():
            return True
    return False
