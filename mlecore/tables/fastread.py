"""Large tables read by polars, if that certainly gives what pandas reads: whole numbers, plain decimals and text.

Pandas types blocks of rows, and a column gets the common type of its blocks. A table is left to pandas if that could
differ from typing whole columns (numbers in a column of text, whole numbers beyond 64 bits, -0, booleans with gaps), or
if the two might split it into cells differently.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby
from typing import IO, TYPE_CHECKING, Any

from attrs import frozen

from mlecore.tables.blocks import blocks, first_record, splits_alike

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame

WORTHWHILE = 4 << 20  # bytes; pandas reads a smaller table in the time that importing polars takes
_AT_ONCE = 16 << 20  # bytes that are parsed together
_SAMPLE = 10_000  # rows that types are guessed from
_MISSING = (  # cells that pandas takes as missing
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_WORDS = ("true", "false", "inf", "infinity", "nan")  # cells of letters that may be no text
_EXACT = 2.0**53  # whole numbers below are exact as float64
_TOGETHER = 2**20  # cells that pandas types together, at most
_FEW = 0.5  # distinct texts, as a share, below which equal ones are kept once


class Uncertain(Exception):
    """Pandas might read something else."""


@frozen(kw_only=True)
class Options:
    """What ``pandas.read_csv`` may be asked for; ``small``: whole numbers become int8 if they fit."""

    usecols: Sequence[str] | None = None
    dtype: Mapping[str, Any] | type[str] | None = None
    na_filter: bool = True
    small: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options | None:
        """None if there are options that are left to pandas."""
        usecols, dtype = options.get("usecols"), options.get("dtype")
        known = (
            options.keys() <= {"usecols", "dtype", "na_filter"}
            and (usecols is None or isinstance(usecols, list))
            and (dtype is None or dtype is str or isinstance(dtype, Mapping))
            and (options.get("na_filter", True) or dtype is str)
        )
        return cls(**options) if known else None

    def type(self, name: str) -> Any:
        """The type that is wanted for a column; None: that of its cells."""
        return self.dtype.get(name) if isinstance(self.dtype, Mapping) else self.dtype


def read(stream: IO[bytes], options: Options) -> DataFrame | None:
    """The table, or None if it is not certain that pandas reads the same."""
    import polars as pl

    reader, tables = _Reader(options), []
    with suppress(Uncertain, pl.exceptions.PolarsError):
        for block in blocks(stream, _AT_ONCE):
            tables.append(reader.cells(block))
        if tables:
            table = pl.concat(tables)
            tables.clear()
            return reader.frame(table)
    return None


def read_pieces(stream: IO[bytes], options: Options) -> Iterator[DataFrame | IO[bytes]]:
    """The table in pieces, each typed by itself; if one is uncertain, a stream of the rest, with the header."""
    import polars as pl

    reader, parts = _Reader(options), blocks(stream, _AT_ONCE)
    for number, block in enumerate(parts):
        try:
            yield reader.frame(reader.cells(block))
            reader.types = None
        except (Uncertain, pl.exceptions.PolarsError):
            yield io.BufferedReader(_Joined(chain([reader.header if number else b"", block], parts)))
            return


class _Joined(io.RawIOBase):
    """A stream of blocks."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._part = parts, io.BytesIO()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not (count := self._part.readinto(buffer)):
            part = next(self._parts, None)
            if part is None:
                return 0
            self._part = io.BytesIO(part)
        return count


class _Reader:
    """Reads the blocks of one table, of which the first begins with the header."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.header = b""
        self.names: list[str] = []  # of all columns
        self.types: dict[str, pl.DataType] | None = None  # of the columns, guessed from the first block

    def cells(self, block: bytes) -> pl.DataFrame:
        """A block as polars reads it, its columns typed as in the first. Raises Uncertain, PolarsError."""
        import polars as pl

        if not splits_alike(block):
            raise Uncertain
        if not self.names:
            self._read_header(block)
            block = block[len(self.header) :]
        if self.types is not None:
            return self._typed(block, self.types)
        for sample in (_SAMPLE, None):
            guessed = self._csv(block, n_rows=sample, infer_schema_length=sample)
            if guessed.width != len(self.names):
                raise Uncertain
            for small in (True, False) if self._options.small else (False,):
                schema = self._schema(guessed, small)
                with suppress(pl.exceptions.ComputeError):  # another type is needed further down
                    table = self._typed(block, schema)
                    self.types = schema
                    return table
        raise Uncertain

    def _read_header(self, block: bytes) -> None:
        import pandas as pd

        self.header = first_record(block)
        try:
            names = list(pd.read_csv(io.BytesIO(self.header), nrows=0).columns)
        except (ValueError, pd.errors.ParserError):
            raise Uncertain from None
        if not set(self._options.usecols or ()) <= set(names) or len(names) < 2:
            raise Uncertain
        self.names = names

    def _typed(self, block: bytes, schema: dict[str, pl.DataType]) -> pl.DataFrame:
        """A block with columns of these types."""
        import polars as pl

        table = self._parse(block, schema, self._options.usecols)
        gaps = [column.name for column in table if column.null_count() and column.dtype != pl.String]
        zeros = [column.name for column in table if column.dtype == pl.Float64 and _negative_zero(column)]
        if gaps or zeros:
            cells = self._parse(block, dict.fromkeys(self.names, pl.String()), [*gaps, *zeros])
            for name in gaps:  # a blank is a gap in numbers to polars, and text to pandas
                if cells[name].null_count() != table[name].null_count():
                    raise Uncertain
            for name in zeros:  # -0 is 0 in a block of whole numbers
                if cells[name].str.contains("^-0+$").any():
                    raise Uncertain
        return table

    def _parse(self, block: bytes, schema: dict[str, pl.DataType], names: Sequence[str] | None) -> pl.DataFrame:
        """These of the columns."""
        places = None if names is None else [place for place, name in enumerate(self.names) if name in names]
        return self._csv(block, schema=schema, columns=places)

    def _csv(self, block: bytes, **options: Any) -> pl.DataFrame:
        import polars as pl

        missing = list(_MISSING) if self._options.na_filter else None
        return pl.read_csv(block, has_header=False, null_values=missing, **options)

    def _schema(self, guessed: pl.DataFrame, small: bool) -> dict[str, pl.DataType]:
        """The types to read, for all columns. Raises Uncertain for those that pandas does not have."""
        import polars as pl

        schema: dict[str, pl.DataType] = {}
        for name, column in zip(self.names, guessed, strict=True):
            wanted = self._options.type(name)
            if wanted is str or not self._used(name):
                schema[name] = pl.String()
            elif column.dtype.is_integer() and small and column.is_between(-128, 127).all():
                schema[name] = pl.Int8()
            elif column.dtype in (pl.Int64, pl.Float64, pl.String, pl.Boolean):
                schema[name] = column.dtype
            else:
                raise Uncertain
        return schema

    def _used(self, name: str) -> bool:
        return self._options.usecols is None or name in self._options.usecols

    def frame(self, table: pl.DataFrame) -> DataFrame:
        """What pandas reads. Raises Uncertain.

        Numbers that are neighbours are adjacent in memory, so that a shuffle moves rows, not cells.
        """
        import pandas as pd
        import polars as pl

        rows = 1  # that pandas types together: a power of two
        while rows * 2 < _TOGETHER // len(self.names):
            rows *= 2
        for column in table:
            if self._options.type(column.name) is not str and not _certain(column, rows):
                raise Uncertain
        parts = []

        def kind(name: str) -> tuple[pl.DataType, bool]:  # whole numbers with a gap become float64, others do not
            return table.schema[name], table[name].null_count() > 0

        for (dtype, _), neighbours in groupby(table.columns, key=kind):
            names = list(neighbours)
            if dtype == pl.String:
                parts += [
                    pd.Series(_texts(table[name], self._options.na_filter), name=name).to_frame() for name in names
                ]
            else:
                numbers = table.select(names).to_numpy(order="c", writable=True)
                parts.append(pd.DataFrame(numbers, columns=names, copy=False))
        frame = pd.concat(parts, axis=1, copy=False)
        wanted = {name: self._options.type(name) for name in frame.columns}
        wanted = {name: dtype for name, dtype in wanted.items() if dtype not in (None, str)}
        return frame.astype(wanted, copy=False) if wanted else frame  # without types, it would part the columns


def _certain(column: pl.Series, rows: int) -> bool:
    """Does pandas, which types ``rows`` rows at a time, read the same values of the same type?"""
    import numpy as np
    import polars as pl

    if column.dtype == pl.String:
        return all(_has_text(column[start : start + rows]) for start in range(0, len(column), rows))
    if column.dtype == pl.Boolean or (column.dtype.is_integer() and not column.null_count()):
        return not column.null_count()
    if column.null_count() == len(column):
        return False
    # with a gap, or among decimals, whole numbers become float64
    return bool((np.abs(column.drop_nulls().to_numpy()) < _EXACT).all())


def _negative_zero(column: pl.Series) -> bool:
    import numpy as np

    values = column.drop_nulls().to_numpy()
    return bool((np.signbit(values) & (values == 0)).any())


def _has_text(cells: pl.Series) -> bool:
    """Is a cell certainly text, so that all of them are? Infinities may be text to pandas (``1e400``)."""

    for some in (cells[:10], cells):  # mostly the first one is
        letters = some.str.to_lowercase().str.strip_chars(" \t+-")
        if (some.str.contains(r"[^0-9eE.+\-\s]|[0-9]\s+[0-9]") & ~letters.is_in(_WORDS)).any():
            return True
    return False


def _texts(column: pl.Series, na_filter: bool) -> NDArray[np.object_]:
    """As pandas holds them; equal texts are kept once where they seem to be many."""
    import numpy as np
    import polars as pl

    if not na_filter:
        column = column.fill_null("")
    first = column[:_SAMPLE]
    if first.n_unique() > len(first) * _FEW:
        cells = column.to_numpy(writable=True)
        if column.null_count():
            cells[column.is_null().to_numpy()] = np.nan
        return cells
    distinct = column.drop_nulls().unique()
    codes = column.cast(pl.Enum(distinct)).to_physical().fill_null(len(distinct)).to_numpy()
    texts = np.empty(len(distinct) + 1, dtype=object)
    texts[:-1], texts[-1] = distinct.to_numpy(), np.nan
    return np.asarray(texts[codes])
