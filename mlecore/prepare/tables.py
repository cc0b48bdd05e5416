"""Tables read and written with the published bytes: pandas 2's readers and ``to_csv(index=False)``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from mlecore.errors import DataError
from mlecore.prepare import fastcsv
from mlecore.prepare.zips import find, open_member, open_zip
from mlecore.tables import fastread

if TYPE_CHECKING:
    from pandas import DataFrame

_ROWS = 200_000  # converted to text together


def read_csv(
    path: Path,
    *,
    member: str | None = None,
    float_precision: Literal["round_trip"] | None = "round_trip",
    **options: Any,
) -> DataFrame:
    """``pandas.read_csv(path, float_precision="round_trip", **options)``; of ``member``, if ``path`` is a zip.

    Where a sheet says "plain ``read_csv``", give ``float_precision=None``: long decimals are then rounded as pandas 2
    rounds them. Raises DataError when the file is missing or cannot be read as a table.
    """
    import pandas as pd

    plain = fastread.Options.of(options) if float_precision == "round_trip" else None
    if plain and _large(path, member):
        with _stream(path, member) as stream:
            table = fastread.read(stream, plain)
        if table is not None:
            return table
    with _reading(path, member) as source:
        return cast("DataFrame", pd.read_csv(source, float_precision=float_precision, **options))


def read_numbers(path: Path) -> DataFrame:
    """``read_csv(path)`` of a large table of numbers, in a third of its memory.

    Whole numbers may be int8 if they fit: for passing on and comparing, not for arithmetic. Written again they have the
    same bytes. Raises DataError as ``read_csv`` does.
    """
    if _large(path, None):
        with _stream(path, None) as stream:
            table = fastread.read(stream, fastread.Options(small=True))
        if table is not None:
            return table
    return read_csv(path)


def read_pieces(path: Path, *, member: str | None = None, rows: int = 200_000, **options: Any) -> Iterator[DataFrame]:
    """``read_csv`` of a table too large for memory, in pieces of ``rows`` or of about 16 MB; the index continues.

    Each piece is typed by itself, as pandas does with blocks of a large table. Raises DataError as ``read_csv`` does.
    """
    import pandas as pd

    plain = fastread.Options.of(options) if _large(path, member) else None
    options |= {"float_precision": "round_trip", "chunksize": rows}
    with _reading(path, member) as source:
        if plain is None:
            with pd.read_csv(source, **options) as pieces:
                yield from pieces
            return
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
            start = 0
            for part in fastread.read_pieces(stream, plain):
                for piece in [part] if isinstance(part, pd.DataFrame) else pd.read_csv(part, **options):
                    piece.index = pd.RangeIndex(start, start + len(piece))
                    start += len(piece)
                    yield piece


def _large(path: Path, member: str | None) -> bool:
    """Is the table large enough for polars?"""
    if member is None:
        return path.is_file() and path.stat().st_size >= fastread.WORTHWHILE
    with suppress(FileNotFoundError), open_zip(path) as archive:
        return find(archive, member).file_size >= fastread.WORTHWHILE
    return False


@contextmanager
def _stream(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    with _reading(path, member) as source, source.open("rb") if isinstance(source, Path) else nullcontext(source) as it:
        yield it


@contextmanager
def _reading(path: Path, member: str | None) -> Iterator[Path | IO[bytes]]:
    """What pandas reads from, with its errors as DataError."""
    import pandas as pd

    try:
        with open_member(path, member) if member else nullcontext(path) as source:
            yield source
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path}{f'!{member}' if member else ''} cannot be read as a table: {error}") from None


def write_csv(
    table: DataFrame | Iterable[DataFrame],
    target: Path | IO[bytes],
    *,
    quoting: int = csv.QUOTE_MINIMAL,
    float_format: str | None = None,
) -> None:
    """The bytes of ``table.to_csv(target, index=False, quoting=..., float_format=...)``, faster if that is safe.

    ``table`` may be an iterator of pieces with the same columns, so that a large one is never in memory as a whole.
    ``target`` is a new file (DataError if it exists: it might be linked to a raw file) or a stream, such as a member
    of a ``ZipWriter``.
    """
    import pandas as pd

    def written(rows: DataFrame, *, header: bool = False) -> bytes:
        text = rows.to_csv(index=False, header=header, quoting=quoting, float_format=float_format, lineterminator="\n")
        return cast("str", text).encode("utf-8")

    with new_file(target) if isinstance(target, Path) else nullcontext(target) as stream:
        for number, piece in enumerate([table] if isinstance(table, pd.DataFrame) else table):
            if number == 0:
                stream.write(written(piece.iloc[:0], header=True))
            fast = fastcsv.worthwhile(piece)
            for start in range(0, len(piece), _ROWS):
                rows = piece.iloc[start : start + _ROWS]
                data = fastcsv.lines(rows, quoting, float_format) if fast else None
                stream.write(written(rows) if data is None else data)


def new_file(path: Path) -> IO[bytes]:
    """Open a new file for writing, making its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path.open("xb")
    except FileExistsError:
        raise DataError(f"{path} already exists") from None
