"""Parses blocks of a CSV table with polars, with types that fit the cells."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mlecore_toolkit.fast_csv.blocks import first_rows, header_line, row_ends
from mlecore_toolkit.fast_csv.options import Options, Uncertain

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_SAMPLES = 1 << 16, 1 << 20  # bytes from which types are guessed; the first takes a tenth of the time
MISSING = (  # cells that pandas reads as missing
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_MINUS_ZERO = -(1 << 63)  # the bits of -0.0


class Parser:
    """Reads the blocks of one table. The first block begins with the header."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.header = b""
        self.names: list[str] = []  # of all columns
        self.types: dict[str, pl.DataType] | None = None  # of the columns, guessed from the first block
        self._missing: list[str] | None = None  # missing-value words, once they are needed: they slow the parser down

    def cells(self, block: bytes) -> pl.DataFrame:
        """Parse a block. Raises Uncertain, PolarsError."""
        import polars as pl

        if not self.names:
            self._read_header(block)
            block = block[len(self.header) :]
        ends = row_ends(block)
        if self.types is not None:
            with suppress(pl.exceptions.ComputeError):
                return self._typed(block, ends, self.types)
        for sample in (*(first_rows(block, size) for size in _SAMPLES), block):
            guessed = self._csv(sample, infer_schema_length=None, null_values=self._words())
            if guessed.width != len(self.names):
                raise Uncertain
            if len(sample) <= _SAMPLES[0] < len(block) and _has_empty(guessed):
                continue
            types = self._types(guessed)
            with suppress(pl.exceptions.ComputeError):  # a later row needs another type
                table = self._typed(block, ends, types)
                self.types = types
                return table
        raise Uncertain

    def _read_header(self, block: bytes) -> None:
        import numpy as np

        self.header = header_line(block)
        try:
            names = next(csv.reader([self.header.decode()], strict=True), [])
        except (csv.Error, UnicodeDecodeError):
            raise Uncertain from None
        plain = len(names) > 1 and all(names) and len(set(names)) == len(names)  # pandas renames other columns
        one = self.header.count(b"\n") == 1 == np.count_nonzero(row_ends(self.header))
        patterns = any(name.startswith("^") and name.endswith("$") for name in names)  # patterns to polars
        if not plain or patterns or not one or not set(self._options.usecols or ()) <= set(names):
            raise Uncertain
        self.names = names

    def _typed(self, block: bytes, ends: NDArray[np.bool_], types: dict[str, pl.DataType]) -> pl.DataFrame:
        """Parse a block with these types. Rows with gaps or -0 are checked again as text."""
        import numpy as np
        import polars as pl

        table = self._parse(block, types, self._options.usecols)
        if len(table) != np.count_nonzero(ends):
            raise Uncertain
        odd = {}
        for column in table:
            if column.dtype != pl.String and (places := _odd(column)) is not None:
                odd[column.name] = places
        if odd:
            some = _rows(block, ends, np.logical_or.reduce([*odd.values()]))
            cells = self._parse(some, dict.fromkeys(self.names, pl.String()), list(odd))
            for name in odd:
                # among numbers, a blank is a gap to polars and text to pandas; -0 is 0 in a block of whole numbers
                if cells[name].null_count() != table[name].null_count() or cells[name].str.contains("^-0+$").any():
                    raise Uncertain
        return table

    def _parse(self, block: bytes, types: dict[str, pl.DataType], names: Sequence[str] | None) -> pl.DataFrame:
        """Parse these columns.

        Words for missing values make the parser half as fast. So they are replaced afterwards in columns of text, and
        the parser only gets them once they caused an error or NaN in a column of numbers.
        """
        import polars as pl

        table = None
        if self._missing is None:
            with suppress(pl.exceptions.ComputeError):
                table = self._csv(block, names, schema=types)
        if table is None or any(map(_has_nan, table)):
            table = self._csv(block, names, schema=types, null_values=self._words())
            self._missing = self._words()
        if self._options.na_filter:
            texts = [column for column in table if column.dtype == pl.String]
            table = table.with_columns([_without_missing(column) for column in texts])
        return table

    def _words(self) -> list[str] | None:
        return list(MISSING) if self._options.na_filter else None

    def _csv(self, block: bytes, names: Sequence[str] | None = None, **options: Any) -> pl.DataFrame:
        """Parse these columns; all of them if rows may have too many cells, because only then polars reports it."""
        import polars as pl

        if names is None:
            return pl.read_csv(block, has_header=False, **options)
        if self._options.ragged:
            return pl.read_csv(block, has_header=False, **options).select(name for name in self.names if name in names)
        places = [place for place, name in enumerate(self.names) if name in names]
        return pl.read_csv(block, has_header=False, columns=places, **options)

    def _types(self, guessed: pl.DataFrame) -> dict[str, pl.DataType]:
        """The types of all columns. Raises Uncertain for a type that pandas does not have."""
        import polars as pl

        types: dict[str, pl.DataType] = {}
        for name, column in zip(self.names, guessed, strict=True):
            if self._options.type(name) is str or not self._used(name):
                types[name] = pl.String()
            elif column.dtype == pl.Int64:
                types[name] = _integer(column)
            elif column.dtype in (pl.Float64, pl.String, pl.Boolean):
                types[name] = column.dtype
            else:
                raise Uncertain
        return types

    def _used(self, name: str) -> bool:
        return self._options.usecols is None or name in self._options.usecols


def _has_empty(table: pl.DataFrame) -> bool:
    """Does a column have no value, so that its type is unknown?"""
    return any(column.null_count() == len(column) for column in table)


def _without_missing(column: pl.Series) -> pl.Series:
    """A column of text with gaps for the cells that pandas reads as missing."""
    if not (column.str.len_bytes() <= max(map(len, MISSING))).any():
        return column
    missing = column.is_in(MISSING)
    return column.set(missing, None) if missing.any() else column


def _integer(column: pl.Series) -> pl.DataType:
    """A type with some room beyond the whole numbers of a sample."""
    import polars as pl

    for size, dtype in ((2**7, pl.Int8()), (2**26, pl.Int32())):
        if column.is_between(-size, size - 1).all():
            return dtype
    return pl.Int64()


def _has_nan(column: pl.Series) -> bool:
    """Is a number NaN? Without gaps, NumPy takes half the time of polars."""
    import numpy as np
    import polars as pl

    if column.dtype != pl.Float64:
        return False
    return bool(column.is_nan().any() if column.null_count() else np.isnan(np.min(column.to_numpy(), initial=0)))


def _odd(column: pl.Series) -> NDArray[np.bool_] | None:
    """The rows in which a column of numbers or booleans has a gap or -0; None if there are none."""
    import numpy as np
    import polars as pl

    odd = column.is_null().to_numpy() if column.null_count() else None
    if column.dtype == pl.Float64:
        bits = column.to_numpy().view(np.int64)
        if bits.min(initial=0) == _MINUS_ZERO:
            places = bits == _MINUS_ZERO
            odd = places if odd is None else odd | places
    return odd


def _rows(block: bytes, ends: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> bytes:
    import numpy as np

    rows = np.flatnonzero(wanted)
    if 2 * len(rows) > len(wanted):
        return block
    edges = np.append(0, np.flatnonzero(ends) + 1)
    return b"".join(
        [block[start:end] for start, end in zip(edges[rows].tolist(), edges[rows + 1].tolist(), strict=True)]
    )
