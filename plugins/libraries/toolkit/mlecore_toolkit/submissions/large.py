"""Reads columns of a large table for grading with polars."""

from __future__ import annotations

import csv
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore_toolkit.fast_csv import frames, reading
from mlecore_toolkit.fast_csv.options import Options

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame

_HEADER = 1 << 16  # bytes


def read(
    path: Path,
    columns: Collection[str] = (),
    *,
    verbatim: Collection[str] = (),
    ragged: bool = False,
) -> DataFrame | None:
    """These columns (default: all) as pandas reads them; None for a small table, or if pandas may read it differently.

    ``verbatim``: columns of text as written, with empty cells as empty text. ``ragged``: leave tables whose rows have
    too many cells to pandas.
    """
    if not path.is_file() or path.stat().st_size < frames.POLARS_FROM_BYTES:
        return None
    import pandas as pd

    names = [name for name in header(path) if not columns or name in columns]
    if not names or not {*columns, *verbatim} <= set(names):
        return None
    typed = Options(usecols=[name for name in names if name not in verbatim], ragged=ragged)
    texts = Options(usecols=list(verbatim), dtype=str, na_filter=False, ragged=ragged and not typed.usecols)
    arrays = {}
    for options in (typed, texts):
        if not options.usecols:
            continue
        with path.open("rb") as file:
            table = reading.read(file, options)
        if table is None:
            return None
        for name in table.columns:
            column = table.drop_in_place(name)  # so that it is in memory once
            arrays[name] = _array(column)
    return pd.DataFrame({name: arrays[name] for name in names}, copy=False)


def header(path: Path) -> list[str]:
    """The names of the columns; none if the first line is not a plain one."""
    with suppress(OSError, UnicodeDecodeError, csv.Error), path.open("rb") as file:
        line = file.readline(_HEADER).decode()
        if line.endswith("\n"):
            return next(csv.reader([line], strict=True), [])
    return []


def _array(column: pl.Series) -> NDArray[Any]:
    import numpy as np
    import polars as pl

    if column.dtype == pl.String:
        return frames.texts(column)
    if column.dtype.is_signed_integer():
        return column.to_numpy().astype(np.int64)
    return column.to_numpy(writable=True)
