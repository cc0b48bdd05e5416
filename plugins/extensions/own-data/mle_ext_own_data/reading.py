"""Reads a user's table: CSV, Parquet, or a folder with files. Each cell gets the type that pandas would give it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from mle_ext_own_data import csv_files
from mle_ext_own_data.draft import Reading
from mlecore.errors import UsageError
from mlecore.util.schema import brief

if TYPE_CHECKING:
    import polars as pl

MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""The cells that pandas reads as missing."""
_HEAD = 200  # cells that decide whether a type is worth trying
_DIGITS = 18  # of a whole number that surely has 64 bits
_COMMA = r"^\s*-?\d+,\d+\s*$"
PARQUET = (".parquet", ".pq")
TABLES = (*csv_files.ENDINGS, *(f"{ending}.gz" for ending in csv_files.ENDINGS), *PARQUET)


@frozen(kw_only=True)
class Rows:
    """What was read."""

    frame: pl.DataFrame  # columns of String, Int64 and Float64; of Parquet also Boolean and dates
    reading: Reading
    table: Path | None  # absolute; None: folders of files
    files: Path | None = None  # absolute
    notes: tuple[str, ...] = ()


def read_table(path: Path) -> Rows:
    """A file. Raises UsageError with what to do if it is no table."""
    import polars as pl

    path = path.absolute()
    with path.open("rb") as file:
        parquet = file.read(4) == b"PAR1"
    rows = _parquet(path) if parquet else _csv(path)
    if not rows.frame.height:
        raise UsageError(f"{path} has a line of names, but no rows")
    if rows.frame.width < 2:
        raise UsageError(f"{path} has one column, {brief(rows.frame.columns[0])}: nothing to predict it from")
    empty = [name for name, dtype in rows.frame.schema.items() if dtype == pl.Null]
    return evolve(rows, frame=rows.frame.with_columns(pl.col(empty).cast(pl.String))) if empty else rows


def _parquet(path: Path) -> Rows:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{path} cannot be read as Parquet: {brief(str(error))}", fix="Write it again.") from None
    wider: list[pl.Expr] = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype == pl.Binary or dtype == pl.Object:
            raise UsageError(
                f"{path}: column {brief(name)} holds {dtype}, which no CSV file can",
                fix="Write a table of numbers, text and dates, and binary data as files beside it.",
            )
        if dtype.is_float() or dtype.is_decimal():
            wider.append(pl.col(name).cast(pl.Float64).fill_nan(None))
        elif dtype.is_integer():
            fits = dtype not in (pl.UInt64, pl.Int128) or frame[name].cast(pl.Int64, strict=False).null_count() == 0
            wider.append(pl.col(name).cast(pl.Int64 if fits else pl.String))
        elif dtype in (pl.Categorical, pl.Enum):
            wider.append(pl.col(name).cast(pl.String))
        elif dtype in (pl.Time, pl.Duration):
            wider.append(pl.col(name).cast(pl.String) if dtype == pl.Time else pl.col(name).dt.total_seconds())
    return Rows(frame=frame.with_columns(wider), reading=Reading(kind="parquet"), table=path)


def _csv(path: Path) -> Rows:
    import polars as pl

    member = csv_files.member_of(path)
    reading, names = csv_files.examine(path, member)
    with csv_files.opened(path, member) as file:
        plain = path if reading.encoding in ("utf-8", "utf-8-sig") and member is None and path.suffix != ".gz" else None
        data = b"" if plain else file.read()
    if data and not reading.encoding.startswith("utf-8"):
        data = data.decode(reading.encoding, "replace").encode()
    try:
        frame = pl.read_csv(
            plain or data,
            separator=reading.separator,
            new_columns=names,
            infer_schema=False,
            null_values=list(MISSING),
        )
    except pl.exceptions.NoDataError:
        raise UsageError(f"{path} has no rows") from None
    except pl.exceptions.PolarsError as error:
        raise (
            csv_files.first_ragged(path, reading)
            or UsageError(
                f"{path} cannot be read as a table: {brief(str(error))}",
                fix="Close every double quote, and write one within a cell as two.",
            )
        ) from None
    comma = reading.separator != "," and any(_decimal_comma(frame[name]) for name in frame.columns)
    reading = evolve(reading, decimal="," if comma else ".")
    columns = [typed(column, comma=comma) for column in frame]
    notes = []
    if not reading.encoding.startswith("utf-"):
        notes.append(f"The encoding {reading.encoding} is a guess: if letters look wrong, save the table as UTF-8.")
    return Rows(frame=pl.DataFrame(columns), reading=reading, table=path, notes=tuple(notes))


def _decimal_comma(column: pl.Series) -> bool:
    """Are all its cells numbers, some with a comma?"""
    cells = column.drop_nulls().head(_HEAD)
    if not cells.len() or not cells.str.contains(_COMMA).any():
        return False
    return bool(cells.str.contains(r"^\s*-?\d+(,\d+)?\s*$").all())


def typed(column: pl.Series, *, comma: bool = False) -> pl.Series:
    """Text as whole numbers or numbers if all its cells are that, else as it is."""
    import polars as pl

    head = column.drop_nulls().head(_HEAD)
    if not head.len():
        return column
    bare, missing = column.str.strip_chars(" \t"), column.null_count()
    if comma:
        bare = bare.str.replace(",", ".", literal=True)
    if bare.head(_HEAD).cast(pl.Float64, strict=False).null_count() > column.head(_HEAD).null_count():
        return column
    whole = bare.cast(pl.Int64, strict=False)
    if whole.null_count() == missing:
        return whole
    number = bare.cast(pl.Float64, strict=False)
    longest = bare.str.len_chars().max()
    if number.null_count() > missing or (isinstance(longest, int) and longest > _DIGITS and _long(bare)):
        return column
    return number.fill_nan(None)


def _long(column: pl.Series) -> bool:
    """Are they whole numbers of more digits than a number has, such as identifiers?"""
    return bool(column.drop_nulls().str.contains(r"^\d+$").all())
