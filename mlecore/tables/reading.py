"""CSV tables read by polars, if that certainly gives what pandas reads: whole numbers, plain decimals and text.

Pandas types blocks of rows, and a column gets the common type of its blocks. A table is left to pandas if that could
differ from typing whole columns (numbers in a column of text, whole numbers beyond 64 bits, -0, booleans with gaps), or
if the two might split it into cells differently. Whole numbers may have fewer bits here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from attrs import frozen

from mlecore.tables.blocks import blocks, first_record, first_records, splits_alike
from mlecore.tables.joining import joined

if TYPE_CHECKING:
    import polars as pl

_AT_ONCE = 16 << 20  # bytes that are parsed together
_SAMPLE = 1 << 20  # bytes that types are guessed from
_MISSING = (  # cells that pandas takes as missing
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_WORDS = ("true", "false", "inf", "infinity", "nan")  # cells of letters that may be no text
_BLANKS = re.compile(rb'[,\n"][ \t]+[,\n"]')  # the end of a cell's text, too
_WANTED = (str, int, float, "int8", "int16", "int32", "int64", "float64")  # types that may be asked for
_EXACT = 2.0**53  # whole numbers below are exact as float64
_TOGETHER = 2**20  # cells that pandas types together, at most


class Uncertain(Exception):
    """Pandas might read something else."""


@frozen(kw_only=True)
class Options:
    """What ``pandas.read_csv`` may be asked for."""

    usecols: Sequence[str] | None = None
    dtype: Mapping[str, Any] | type[str] | None = None
    na_filter: bool = True

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options | None:
        """None if there are options that are left to pandas."""
        usecols, dtype = options.get("usecols"), options.get("dtype")
        known = (
            options.keys() <= {"usecols", "dtype", "na_filter"}
            and (usecols is None or isinstance(usecols, list))
            and (dtype is None or dtype is str or isinstance(dtype, Mapping))
            and (not isinstance(dtype, Mapping) or all(wanted in _WANTED for wanted in dtype.values()))
        )
        return cls(**options) if known else None

    def type(self, name: str) -> Any:
        """The type that is wanted for a column; None: that of its cells."""
        return self.dtype.get(name) if isinstance(self.dtype, Mapping) else self.dtype


def read(stream: IO[bytes], options: Options) -> pl.DataFrame | None:
    """The table, or None if it is not certain that pandas reads the same."""
    import polars as pl

    reader, tables = _Reader(options), []
    with suppress(Uncertain, pl.exceptions.PolarsError):
        for block in blocks(stream, _AT_ONCE):
            tables.append(reader.cells(block))
        if tables:
            return reader.certain(_joined(tables))
    return None


def read_pieces(stream: IO[bytes], options: Options) -> Iterator[pl.DataFrame | IO[bytes]]:
    """The table in pieces, each typed by itself; if one is uncertain, a stream of the rest, with the header."""
    import polars as pl

    reader, parts = _Reader(options), blocks(stream, _AT_ONCE)
    block = b""
    for number, block in enumerate(parts):
        try:
            yield reader.certain(reader.cells(block))
            reader.types = None
        except (Uncertain, pl.exceptions.PolarsError):
            yield io.BufferedReader(_Rest(chain([reader.header if number else b"", block], parts)))
            return
    if not block:
        yield io.BytesIO()  # an empty file is for pandas to reject


class _Rest(io.RawIOBase):
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
        self._missing: list[str] | None = None  # words, once they are needed: they slow the parser down

    def cells(self, block: bytes) -> pl.DataFrame:
        """A block as polars reads it. Raises Uncertain, PolarsError."""
        import polars as pl

        if not splits_alike(block):
            raise Uncertain
        if not self.names:
            self._read_header(block)
            block = block[len(self.header) :]
        if self.types is not None:
            with suppress(pl.exceptions.ComputeError):
                return self._typed(block, self.types)
        for sample in (first_records(block, _SAMPLE), block):
            guessed = self._csv(sample, infer_schema_length=None, null_values=self._words())
            if guessed.width != len(self.names):
                raise Uncertain
            types = self._types(guessed)
            with suppress(pl.exceptions.ComputeError):  # another type is needed further down
                table = self._typed(block, types)
                self.types = types
                return table
        raise Uncertain

    def _read_header(self, block: bytes) -> None:
        self.header = first_record(block)
        try:
            names = next(csv.reader([self.header.decode()], strict=True), [])
        except (csv.Error, UnicodeDecodeError):
            raise Uncertain from None
        plain = len(names) > 1 and all(names) and len(set(names)) == len(names)  # pandas renames some
        if not plain or self.header.count(b"\n") != 1 or not set(self._options.usecols or ()) <= set(names):
            raise Uncertain
        self.names = names

    def _typed(self, block: bytes, types: dict[str, pl.DataType]) -> pl.DataFrame:
        """A block with columns of these types."""
        import polars as pl

        table = self._parse(block, types, self._options.usecols)
        numbers = [column for column in table if column.dtype != pl.String]
        gaps = [column.name for column in numbers if column.null_count()]
        if gaps and _may_have_blanks(block):
            cells = self._parse(block, dict.fromkeys(self.names, pl.String()), gaps)
            for name in gaps:  # a blank is a gap in numbers to polars, and text to pandas
                if cells[name].null_count() != table[name].null_count():
                    raise Uncertain
        if zeros := [column.name for column in numbers if column.dtype == pl.Float64 and _negative_zero(column)]:
            cells = self._parse(block, dict.fromkeys(self.names, pl.String()), zeros)
            if any(cells[name].str.contains("^-0+$").any() for name in zeros):  # 0 in a block of whole numbers
                raise Uncertain
        return table

    def _parse(self, block: bytes, types: dict[str, pl.DataType], names: Sequence[str] | None) -> pl.DataFrame:
        """These of the columns.

        Words for missing cells make the parser half as fast. So they are looked for in columns of text afterwards, and
        the parser gets them once they were errors or NaN in a column of numbers.
        """
        import polars as pl

        places = None if names is None else [place for place, name in enumerate(self.names) if name in names]
        table = None
        if self._missing is None:
            with suppress(pl.exceptions.ComputeError):
                table = self._csv(block, schema=types, columns=places)
        if table is None or any(column.is_nan().any() for column in table if column.dtype == pl.Float64):
            table = self._csv(block, schema=types, columns=places, null_values=self._words())
            self._missing = self._words()
        if self._options.na_filter:
            texts = [column for column in table if column.dtype == pl.String]
            table = table.with_columns([_without_missing(column) for column in texts])
        return table

    def _words(self) -> list[str] | None:
        return list(_MISSING) if self._options.na_filter else None

    def _csv(self, block: bytes, **options: Any) -> pl.DataFrame:
        import polars as pl

        return pl.read_csv(block, has_header=False, **options)

    def _types(self, guessed: pl.DataFrame) -> dict[str, pl.DataType]:
        """The types to read, for all columns. Raises Uncertain for those that pandas does not have."""
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

    def certain(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the types that pandas reads, whole numbers aside. Raises Uncertain."""
        rows = 1  # that pandas types together: a power of two
        while rows * 2 < _TOGETHER // len(self.names):
            rows *= 2
        return table.with_columns([self._certain(column, rows) for column in table])

    def _certain(self, column: pl.Series, rows: int) -> pl.Series:
        """Does pandas, which types ``rows`` rows at a time, read the same values?"""
        import polars as pl

        wanted, kept = self._options.type(column.name), self._options.na_filter
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
            ok = ok and bool(column.is_between(-_EXACT, _EXACT, closed="none").all())
        if not ok:
            raise Uncertain
        return column


def _joined(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Blocks of one table; numbers get their common type. Raises Uncertain if a column has numbers and others."""
    kinds = [["number" if dtype.is_numeric() else dtype for dtype in table.dtypes] for table in tables]
    if any(other != kinds[0] for other in kinds):
        raise Uncertain
    return joined(tables)


def _without_missing(column: pl.Series) -> pl.Series:
    """A column of text, with gaps where pandas takes a cell as missing."""
    if not (column.str.len_bytes() <= max(map(len, _MISSING))).any():
        return column
    missing = column.is_in(_MISSING)
    return column.set(missing, None) if missing.any() else column


def _integer(column: pl.Series) -> pl.DataType:
    """A type with room for more than the whole numbers of a sample."""
    import polars as pl

    for size, dtype in ((2**7, pl.Int8()), (2**26, pl.Int32())):
        if column.is_between(-size, size - 1).all():
            return dtype
    return pl.Int64()


def _fits(column: pl.Series, dtype: Any) -> bool:

    values = column.to_numpy()
    return bool((values == values.astype(dtype)).all())


def _may_have_blanks(block: bytes) -> bool:
    """May a cell be blank? None is where a line begins."""
    likely = b'"' in block or b"\t" in block or b", " in block  # each is much faster to find than the pattern
    return likely and _BLANKS.search(block) is not None


def _negative_zero(column: pl.Series) -> bool:
    import numpy as np

    zeros = column.filter(column == 0)
    return bool(np.signbit(zeros.to_numpy()).any())


def _has_text(cells: pl.Series) -> bool:
    """Is a cell certainly text, so that all of them are? Infinities may be text to pandas (``1e400``)."""

    for some in (cells[:10], cells):  # mostly the first one is
        letters = some.str.to_lowercase().str.strip_chars(" \t+-")
        if (some.str.contains(r"[^0-9eE.+\-\s]|[0-9.][+-]|[0-9]\s+[0-9]") & ~letters.is_in(_WORDS)).any():
            return True
    return False
