"""Columns of a large table for grading: read by polars, and equal texts in memory once."""

from __future__ import annotations

import csv
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.tables import frames, reading
from mlecore.tables.options import Options

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

_HEADER = 1 << 16  # bytes


def read(
    path: Path,
    columns: Collection[str] = (),
    *,
    verbatim: Collection[str] = (),
    ragged: bool = False,
    beside: Series | None = None,
) -> DataFrame | None:
    """These columns (none named: all) as pandas reads them; None for a small table, and if that is not certain.

    ``verbatim``: those that are text as written, an empty cell being empty text. ``ragged``: rows may have too many
    cells, for pandas to judge. If the texts of the column ``beside`` are those of the column of its name, they are the
    same objects: a million take some 70 MB and a tenth of a second.
    """
    if not path.is_file() or path.stat().st_size < frames.WORTHWHILE:
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
            column = table.drop_in_place(name)  # it is in memory once
            arrays[name] = _array(column, beside if beside is not None and beside.name == name else None)
    return pd.DataFrame({name: arrays[name] for name in names}, copy=False)


def header(path: Path) -> list[str]:
    """The names of the columns; none if the first line is no plain one."""
    with suppress(OSError, UnicodeDecodeError, csv.Error), path.open("rb") as file:
        line = file.readline(_HEADER).decode()
        if line.endswith("\n"):
            return next(csv.reader([line], strict=True), [])
    return []


def _array(column: pl.Series, known: Series | None) -> NDArray[Any]:
    import numpy as np
    import polars as pl

    if column.dtype == pl.String:
        return frames.texts(column) if known is None else _known_texts(column, known)
    if column.dtype.is_signed_integer():
        return column.to_numpy().astype(np.int64)
    return column.to_numpy(writable=True)


def _known_texts(column: pl.Series, known: Series) -> NDArray[Any]:
    import numpy as np
    import polars as pl

    with suppress(TypeError, ValueError, pl.exceptions.PolarsError):  # numbers, gaps
        if known.dtype == object and pl.Series(known.tolist(), dtype=pl.String).equals(column):
            return np.asarray(known.array)
    return frames.texts(column)


def are_same(a: Any, b: Any) -> bool:
    """Do two columns share their cells?"""
    here, there = (getattr(column, "__array_interface__", {}) for column in (a, b))
    return bool(here) and all(here[key] == there.get(key) for key in ("data", "shape", "strides", "typestr"))


def places(texts: NDArray[np.object_], wanted: NDArray[np.object_]) -> NDArray[np.intp] | None:
    """Where in ``texts`` each of as many wanted ones is; None unless all are there and different."""
    import numpy as np
    import polars as pl

    here, there = (pl.Series(cells.tolist(), dtype=pl.String) for cells in (texts, wanted))
    order, wanted_order = here.arg_sort(), there.arg_sort()
    ordered = here.gather(order)
    if not ordered.equals(there.gather(wanted_order)) or (ordered == ordered.shift()).any():
        return None
    found = np.empty(len(texts), dtype=np.intp)
    found[wanted_order.to_numpy()] = order.to_numpy()
    return found
