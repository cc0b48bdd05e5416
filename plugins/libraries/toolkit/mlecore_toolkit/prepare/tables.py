"""Reads tables as pandas 2 does, and writes them with the bytes of ``to_csv(index=False)``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from mlecore.errors import DataError
from mlecore.util.file_kinds import describe
from mlecore_toolkit.fast_csv import frames, reading, writing
from mlecore_toolkit.fast_csv.options import Options
from mlecore_toolkit.prepare.zips import find, open_member, open_zip

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_ROWS = 200_000  # rows of a piece
_TOGETHER = 50_000  # rows written together
_POLARS_FROM_CELLS = 200_000  # cells; for a smaller table, importing polars takes longer than pandas


def read_csv(
    path: Path,
    *,
    member: str | None = None,
    float_precision: Literal["round_trip"] | None = "round_trip",
    **options: Any,
) -> pd.DataFrame:
    """``pandas.read_csv(path, float_precision="round_trip", **options)``; ``member``: of a zip.

    With ``float_precision=None``, long decimals are rounded as in pandas 2's plain ``read_csv``. Raises DataError if
    the file is missing or is no table.
    """
    plain = Options.of(options) if float_precision == "round_trip" else None
    if plain and _large(path, member):
        with _reading(path, member) as source, _opened(source) as stream:
            table = frames.read(stream, plain)
        if table is not None:
            return table
    return _by_pandas(path, member, float_precision=float_precision, **options)


def read_table(path: Path, *, member: str | None = None, **options: Any) -> pl.DataFrame:
    """A large table of numbers and text as a table of polars, in less time and memory than ``read_csv``.

    ``write_csv`` writes it, and selections of its rows and columns, with the same bytes as those of ``read_csv``. Whole
    numbers may have 8 bits: compare and pass them on, but do not calculate. Raises DataError as ``read_csv`` does.
    """
    plain = Options.of(options)
    if plain:
        with _reading(path, member) as source, _opened(source) as stream:
            table = reading.read(stream, plain)
        if table is not None:
            return table
    return _printable(_by_pandas(path, member, float_precision="round_trip", **options), path)


def read_pieces(path: Path, *, member: str | None = None, rows: int = _ROWS, **options: Any) -> Iterator[pl.DataFrame]:
    """``read_table`` for a table larger than memory, in pieces of at most ``rows`` rows.

    About 16 MB are typed together, if possible as the previous ones. As with pandas' blocks of a large table, the types
    of a column may differ between pieces. Raises DataError as ``read_csv`` does.
    """
    import polars as pl

    plain = Options.of(options)
    options |= {"float_precision": "round_trip", "chunksize": rows}
    with _reading(path, member) as source, _opened(source) as stream:
        for part in reading.read_pieces(stream, plain) if plain else [stream]:
            if isinstance(part, pl.DataFrame):
                yield from (part[start : start + rows] for start in range(0, len(part), rows))
            else:
                import pandas as pd

                yield from (_printable(piece, path) for piece in pd.read_csv(part, **options))


def write_csv(
    table: pd.DataFrame | pl.DataFrame | Iterable[pd.DataFrame] | Iterable[pl.DataFrame],
    target: Path | IO[bytes],
    *,
    quoting: int = csv.QUOTE_MINIMAL,
    float_format: str | None = None,
) -> None:
    """Write the bytes of pandas' ``table.to_csv(target, index=False, quoting=..., float_format=...)``, but faster.

    ``table`` may be an iterator of pieces with the same columns, so that it is never in memory as a whole. ``target``
    is a stream, such as a member of a ``ZipWriter``, or a new file. Raises DataError if the file exists, because it
    might be a link to a raw file.
    """
    style: dict[str, Any] = {"quoting": quoting, "float_format": float_format}
    with new_file(target) if isinstance(target, Path) else nullcontext(target) as stream:
        for number, piece in enumerate([table] if hasattr(table, "columns") else table):
            if number == 0:
                stream.write(_header(piece, **style))
            for start in range(0, len(piece), _TOGETHER):
                stream.write(_lines(piece, start, **style))


def _header(table: pd.DataFrame | pl.DataFrame, quoting: int, float_format: str | None) -> bytes:
    if hasattr(table, "iloc"):
        return _printed(table.iloc[:0], header=True, quoting=quoting, float_format=float_format)
    line = io.StringIO()
    csv.writer(line, quoting=cast("Any", quoting), lineterminator="\n").writerow(table.columns)
    return line.getvalue().encode()


def _lines(piece: Any, start: int, quoting: int, float_format: str | None) -> bytes:
    """Rows of a table of pandas or polars as CSV."""
    rows = getattr(piece, "iloc", piece)[start : start + _TOGETHER]
    table: pl.DataFrame | None = None
    if not hasattr(rows, "iloc"):
        table = rows
    elif piece.size >= _POLARS_FROM_CELLS:
        table = frames.to_polars(rows, mixed=quoting == csv.QUOTE_MINIMAL)
    data = None if table is None else writing.lines(table, quoting, float_format)
    if data is not None:
        return data
    frame = rows if hasattr(rows, "iloc") else frames.to_pandas(rows)
    return _printed(frame, header=False, quoting=quoting, float_format=float_format)


def _printed(frame: pd.DataFrame, **style: Any) -> bytes:
    return cast("str", frame.to_csv(index=False, lineterminator="\n", **style)).encode()


def new_file(path: Path) -> IO[bytes]:
    """Open a new file for writing, creating its folders. Raises DataError if it exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path.open("xb")
    except FileExistsError:
        raise DataError(f"{path} already exists") from None


def _by_pandas(path: Path, member: str | None, **options: Any) -> pd.DataFrame:
    import pandas as pd

    with _reading(path, member) as source:
        return cast("pd.DataFrame", pd.read_csv(source, **options))


def _printable(frame: pd.DataFrame, path: Path) -> pl.DataFrame:
    table = frames.to_polars(frame)
    if table is None:
        raise DataError(f"{path} has columns of other types than text and numbers")
    return table


def _large(path: Path, member: str | None) -> bool:
    """Is the table large enough for polars?"""
    if member is None:
        return path.is_file() and path.stat().st_size >= frames.POLARS_FROM_BYTES
    with suppress(FileNotFoundError), open_zip(path) as archive:
        return find(archive, member).file_size >= frames.POLARS_FROM_BYTES
    return False


def _opened(source: Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return source.open("rb") if isinstance(source, Path) else nullcontext(source)


@contextmanager
def _reading(path: Path, member: str | None) -> Iterator[Path | IO[bytes]]:
    """The source for a reader; its errors become DataError."""
    try:
        with open_member(path, member) if member else nullcontext(path) as source:
            yield source
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except ValueError as error:
        from pandas.errors import EmptyDataError, ParserError

        if not isinstance(error, (EmptyDataError, ParserError, UnicodeDecodeError)):
            raise
        what = "" if member else f"it is {describe(path)[0]}: "
        raise DataError(f"{path}{f'!{member}' if member else ''} cannot be read as a table: {what}{error}") from None
