"""A delimited table: CSV, TSV, or with another delimiter. Every cell is text."""

from __future__ import annotations

import csv
import shutil
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
        import polars as pl

        self._delimiter = read_header(path)[1]
        try:
            self._frame = pl.read_csv(path, separator=self._delimiter, infer_schema=False).fill_null("")
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"{path} cannot be read as a table: {error}") from None

    @property
    def names(self) -> list[str]:
        """What is to be renamed: the columns."""
        return self._frame.columns

    @property
    def height(self) -> int:
        return self._frame.height

    def cells(self, name: str) -> pl.Series | None:
        """A column; None if the table has none of this name."""
        return self._frame[name] if name in self._frame.columns else None

    def is_text(self, name: str) -> bool:
        """Known to hold texts without looking at the cells."""
        return False

    def write(
        self, path: Path, columns: Mapping[str, str], values: Mapping[str, Mapping[str, str]], order: Any
    ) -> None:
        """In other names; ``order``: the rows by their numbers, None: as they are."""
        import polars as pl

        changed = [
            pl.col(name).replace(list(new), list(new.values())) for name in self.names if (new := values.get(name))
        ]
        renamed = self._frame.with_columns(changed).rename({name: columns[name] for name in self.names})
        shuffled = renamed if order is None else renamed[order]
        # a bare carriage return would end a row for some readers
        returns = any(shuffled[name].str.contains("\r", literal=True).any() for name in shuffled.columns)
        shuffled.write_csv(path, separator=self._delimiter, quote_style="always" if returns else "necessary")


def read_header(path: Path) -> tuple[list[str], Delimiter]:
    """The names in the first line, and the delimiter. Raises DataError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None
    delimiter: Any = max(_DELIMITERS, key=line.count)
    return next(csv.reader([line], delimiter=delimiter), []), delimiter


def rename_header(source: Path, target: Path, columns: Mapping[str, str]) -> None:
    """Copy a table with other names in its header, and nothing else changed. Raises DataError."""
    names, delimiter = read_header(source)
    with source.open("rb") as reader, target.open("xb") as writer:
        end = b"\r\n" if reader.readline().endswith(b"\r\n") else b"\n"
        writer.write(delimiter.join(columns.get(name, name) for name in names).encode() + end)
        shutil.copyfileobj(reader, writer, 1 << 20)
