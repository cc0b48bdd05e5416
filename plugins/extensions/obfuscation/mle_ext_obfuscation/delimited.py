"""A delimited table: CSV, TSV, or with another delimiter. Every cell is text."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mlecore.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_DELIMITERS = ",\t;|"  # the first of those that a header has most
Delimiter = Literal[",", "\t", ";", "|"]


class Delimited:
    """A table in memory."""

    def __init__(self, path: Path) -> None:
        """Raises DataError."""
        self._delimiter = read_header(path)[1]
        self._frame = _read(path, self._delimiter).fill_null("")

    @property
    def names(self) -> list[str]:
        """The columns, all of which are renamed."""
        return self._frame.columns

    @property
    def height(self) -> int:
        return self._frame.height

    def cells(self, name: str) -> pl.Series | None:
        """A column; None if the table has none of this name."""
        return self._frame[name] if name in self._frame.columns else None

    def is_text(self, name: str) -> bool:
        """Is a column known to hold texts without looking at its cells? Never."""
        return False

    def write(
        self, path: Path, columns: Mapping[str, str], values: Mapping[str, Mapping[str, str]], order: Any
    ) -> None:
        """Write the table under new names, sorted by these. ``order``: the rows by their numbers; None: as they are."""
        import polars as pl

        changed = [
            pl.col(name).replace(list(new), list(new.values())) for name in self.names if (new := values.get(name))
        ]
        renamed = self._frame.with_columns(changed).rename({name: columns[name] for name in self.names})
        sorted_ = renamed.select(sorted(renamed.columns))
        shuffled = sorted_ if order is None else sorted_[order]
        # a bare carriage return would end a row for some readers
        returns = any(shuffled[name].str.contains("\r", literal=True).any() for name in shuffled.columns)
        shuffled.write_csv(path, separator=self._delimiter, quote_style="always" if returns else "necessary")


def read_names(path: Path) -> list[str]:
    """The columns, as ``Delimited.names`` has them. Raises DataError."""
    return _read(path, read_header(path)[1], rows=0).columns


def _read(path: Path, delimiter: Delimiter, rows: int | None = None) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_csv(path, separator=delimiter, infer_schema=False, n_rows=rows)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None


def read_header(path: Path) -> tuple[list[str], Delimiter]:
    """The names in the first line, and the delimiter. Raises DataError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None
    delimiter: Any = max(_DELIMITERS, key=line.count)
    return next(csv.reader([line], delimiter=delimiter), []), delimiter
