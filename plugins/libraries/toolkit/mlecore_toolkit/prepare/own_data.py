"""Tables and files that a competition's author brings: cells as they are written, raw data where they lie."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore_toolkit.prepare.files import copy_file
from mlecore_toolkit.prepare.tables import read_table
from mlecore_toolkit.prepare.zips import ZipWriter

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

PLACES = "raw_data.txt"
"""In a package that does not contain its raw data: where they are on this machine, a path a line. Not committed."""
INCLUDED = "raw_data"
"""The folder of a package that contains them."""


def read_cells(
    path: Path, *, separator: str = ",", encoding: str = "utf-8", decimal: str = ".", member: str | None = None
) -> pl.DataFrame:
    """A table of texts: each cell as it is written (`007`, `1.50`, `NA`), and "" if it is missing.

    CSV, also compressed (``member``: of a zip), or Parquet, whose cells become text as pandas would print them.
    ``decimal=","``: columns of numbers with commas get points. Raises DataError if the file is missing or is no such
    table.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet_cells(path)
    options = {} if separator == "," else {"sep": separator}
    options |= {} if encoding == "utf-8" else {"encoding": encoding}
    table = read_table(path, member=member, dtype=str, na_filter=False, **options)
    return table if decimal == "." else table.with_columns(_with_points(column, decimal) for column in table)


def write_cells(
    table: pd.DataFrame,
    path: Path,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    decimal: str = ".",
    member: str | None = None,
) -> None:
    """Write synthetic data in the form that ``read_cells`` reads: the same bytes for the same table."""
    text = table.to_csv(index=False, sep=separator, decimal=decimal, lineterminator="\n")
    data = text.encode(encoding, "replace")
    if path.suffix.lower() in (".parquet", ".pq"):
        import polars as pl

        pl.read_csv(io.BytesIO(text.encode()), infer_schema_length=None).write_parquet(path)
    elif member is not None:
        with ZipWriter(path) as archive:
            archive.add(member, data)
    else:
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


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


def _with_points(column: pl.Series, decimal: str) -> pl.Series:
    """The column with decimal points, if it has nothing but numbers."""
    points = column.str.replace(decimal, ".", literal=True)
    numbers = points.filter(points != "").str.contains(r"^[+-]?\d*\.?\d+([eE][+-]?\d+)?$")
    return points if numbers.all() else column


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
        text = column.cast(pl.String).fill_null("")
        cells.append((text.str.replace(r"\.0+$", "") if kind == pl.Datetime else text).alias(name))
    return table.select(cells)
