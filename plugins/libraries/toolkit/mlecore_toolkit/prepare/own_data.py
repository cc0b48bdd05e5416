"""Tables and files that a competition's author brings: cells as they are written, raw data where they lie."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore_toolkit.prepare.files import copy_file
from mlecore_toolkit.prepare.tables import read_table

if TYPE_CHECKING:
    import polars as pl

PLACES = "raw_data.txt"
"""In a package that does not contain its raw data: where they are on this machine, a path a line. Not committed."""
INCLUDED = "raw_data"
"""The folder of a package that contains them."""

_DELIMITERS = ",;\t|"
_HEAD = 1 << 16  # bytes of the header that are looked at


def read_cells(path: Path) -> pl.DataFrame:
    """A table of texts: each cell as it is written (`007`, `1.50`, `NA`), and "" if it is missing.

    CSV with any usual delimiter, also gzipped, or Parquet, whose cells become text as pandas would print them. Raises
    DataError if the file is missing or is no such table.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet_cells(path)
    delimiter = _delimiter(path)
    options = {} if delimiter == "," else {"sep": delimiter}
    return read_table(path, dtype=str, na_filter=False, **options)


def copy_raw_data(package: Path, raw: Path, names: Iterable[str]) -> None:
    """Copy ``names``, files and folders, to ``raw``: from the package's folder ``raw_data``, or else from the places
    that its ``raw_data.txt`` lists. Copied, because raw data become read-only.

    Raises DataError if they are not there.
    """
    listed = (package / PLACES).read_text(encoding="utf-8").splitlines() if (package / PLACES).is_file() else []
    places = {Path(line).name: Path(line) for line in listed}
    for name in names:
        included = package / INCLUDED / name
        source = included if included.exists() else places.get(name)
        if source is None or not source.exists():
            where = f" ({source} is missing)" if source else ""
            raise DataError(
                f"the raw data are not on this machine: {name}{where}",
                fix=f"Prepare from a folder that contains {', '.join(names)}: mlecore prepare ... --raw FOLDER",
            )
        if source.is_dir():
            for path in sorted(source.rglob("*")):
                if path.is_file():
                    copy_file(path, raw / name / path.relative_to(source))
        else:
            copy_file(source, raw / name)


def _delimiter(path: Path) -> str:
    """The one that the header has most of, outside quotes."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    lines = head.splitlines()[:1]
    return max(_DELIMITERS, key=lambda each: len(next(csv.reader(lines, delimiter=each), [])))


def _parquet_cells(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        table = pl.read_parquet(path)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from None
    cells = []
    for name, kind in table.schema.items():
        column = pl.col(name)
        if kind == pl.Boolean:
            column = pl.when(column).then(pl.lit("True")).when(~column).then(pl.lit("False"))
        elif kind.is_float():
            column = column.fill_nan(None)
        elif kind.is_nested() or kind == pl.Binary:
            raise DataError(f"{path} has a column of {kind}: {name}", fix="Leave it out, or turn it into text.")
        cells.append(column.cast(pl.String).fill_null("").alias(name))
    return table.select(cells)
