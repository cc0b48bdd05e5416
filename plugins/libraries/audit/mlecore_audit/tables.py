"""Tables in any form, as batches of rows with every cell as text.

CSV, JSON, Parquet, Arrow, NumPy, HDF5, SQLite, TFRecords, NMEA.

What a file is, is seen by its content, not by its name. JSON documents, Arrow and NumPy files, and databases are read
as a whole, up to 256 MiB, and larger ones rejected. All others are read in parts, so that memory does not grow with the
file.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore.util.units import show_size
from mlecore_audit import hdf5, sqlite
from mlecore_audit.fields import reader_of
from mlecore_audit.files import HEAD, Failed, Item, contents, is_text, packing
from mlecore_audit.nmea import is_nmea, positions
from mlecore_audit.plain_text import plain_batches
from mlecore_audit.tfrecords import examples, is_tfrecord

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

BATCH = 100_000  # rows that are read at once
_CELLS = 20_000_000  # that are read at once, of tables with many columns
_WIDEST = 100_000  # columns of a text
_FIRST_LINE = 16 << 20  # bytes of it at most
WHOLE = 256 << 20  # bytes of a file that must be read as a whole

_STARTS = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\x93NUMPY", "numpy"),
    (hdf5.START, "hdf5"),
    (sqlite.START, "sqlite"),
)
_SHAPE = re.compile(rb"'shape': \(([\d, ]*)\)")  # in the head of a NumPy file

Batches = Iterator["DataFrame"]


def tables(
    root: Path,
    failed: Failed | None = None,
    wanted: Callable[[Item], bool] = lambda item: True,
    folder: str = "public",
) -> Iterator[tuple[str, Batches]]:
    """Every table of a folder, with its path below ``root``. Its batches are valid until the next table.

    Nothing is parsed of files that are not ``wanted``.
    """
    for item, stream in contents(root, failed, folder):
        if item.name == "public/description.md" or not wanted(item):
            continue
        for part, batches in readable_tables(item, stream, failed):
            yield f"{item.name}{part}", batches


def readable_tables(
    item: Item, stream: IO[bytes], failed: Failed | None, columns: Collection[str] | None = None
) -> Iterator[tuple[str, Batches]]:
    """``read_tables`` of one file up to what cannot be read, which is reported."""
    try:
        for part, batches in read_tables(stream, item.size, columns):
            yield part, _guarded(batches, item.name, failed)
    except _unreadable() as error:
        if failed is not None:
            failed(item.name, str(error) or type(error).__name__)


def _guarded(batches: Batches, name: str, failed: Failed | None) -> Batches:
    """The batches up to the first that cannot be read, which is reported."""
    try:
        yield from batches
    except _unreadable() as error:
        if failed is not None:
            failed(name, str(error) or type(error).__name__)


def read_tables(stream: IO[bytes], size: int, columns: Collection[str] | None = None) -> Iterator[tuple[str, Batches]]:
    """The tables of one file, each with what is added to the file's name: ``#key`` for a part of a JSON document.
    Of ``columns``, a text need not hold others.

    Raises DataError for a file that is too large to be read as a whole or of an unknown format, and what its reader
    raises for a damaged one.
    """
    import pandas as pd

    head = stream.read(HEAD)
    kind = _kind(head)
    if head and not (kind or packing(head) or reader_of(head)):
        raise DataError("it is not read: its format is unknown")
    if not kind or (kind == "numpy" and not _is_flat(head)):
        return
    if size > WHOLE and (kind in ("arrow", "numpy", "sqlite") or (kind == "json" and not _is_lines(head))):
        raise _too_large(show_size(size))
    rest = io.BufferedReader(_Joined(head, stream))
    if kind == "tfrecord":
        yield "", _batches(examples(rest))
    elif kind == "hdf5":
        yield from ((part, iter([frame])) for part, frame in hdf5.datasets(stream))
    elif kind == "sqlite":
        yield from sqlite.tables_of(_whole(rest), BATCH)
    elif kind == "nmea":
        yield "", _batches(positions(rest))
    elif kind == "text":
        yield "", _text(rest, columns)
    elif kind == "json" and _is_lines(head):
        reader = pd.read_json(io.TextIOWrapper(rest, "utf-8", "replace"), lines=True, chunksize=BATCH, dtype=False)
        yield "", (frame.fillna("").astype(str).rename(columns=str).reset_index(drop=True) for frame in reader)
    elif kind == "json":
        try:
            value = json.loads(_whole(rest))
        except ValueError:
            return
        for part, frame in _of_json("", value):
            yield part, iter([frame])
    elif kind == "numpy":
        import numpy as np

        array = np.atleast_1d(np.load(io.BytesIO(_whole(rest)), allow_pickle=False).squeeze())
        if array.size and (array.ndim == 1 or array.shape[1] < 10_000):
            yield "", iter([_of_array(array)])
    else:
        yield "", _columnar(kind, stream if kind == "parquet" else rest)


def _whole(stream: IO[bytes]) -> bytes:
    """All of a file, whose size is not what its archive declares if that lies, or packs it alone."""
    data = stream.read(WHOLE + 1)
    if len(data) > WHOLE:
        raise _too_large("more than 256 MiB")
    return data


def _too_large(size: str) -> DataError:
    return DataError(f"as a table of {size} it is not read: its format is read as a whole, up to 256 MiB")


def numbers_of(texts: Iterable[str]) -> NDArray[np.float64]:
    """NaN for what is no number. (``pandas.to_numeric`` ends the process at 1e2147483648, and ids may look like it.)"""
    import polars as pl

    read = pl.Series(list(texts), dtype=pl.String).cast(pl.Float64, strict=False)
    return read.fill_null(float("nan")).to_numpy()


def typed(frame: DataFrame) -> DataFrame:
    """Columns that hold numbers alone (or nothing) as numbers."""
    columns = {}
    for name in frame.columns:
        numbers = numbers_of(frame[name])
        empty = (frame[name] == "").to_numpy()
        columns[name] = numbers if not (numbers != numbers)[~empty].any() and not empty.all() else frame[name]
    return frame.assign(**columns)


class _Joined(io.RawIOBase):
    """The head of a stream that was read already, and its rest."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._stream.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _kind(head: bytes) -> str:
    """Empty for what is no table."""
    if packing(head):
        return ""
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if is_tfrecord(head):
        return "tfrecord"
    if not head.strip() or not is_text(head):
        return ""
    if is_nmea(head):
        return "nmea"
    return "json" if head.lstrip()[:1] in (b"[", b"{") else "text"


def _is_lines(head: bytes) -> bool:
    """Does it begin as JSON lines do: with a whole record, or one too long to see its end in a line?"""
    first, newline, _ = head.lstrip().partition(b"\n")
    if not first.startswith(b"{"):
        return False
    try:
        return bool(newline) and isinstance(json.loads(first), dict)
    except ValueError:
        return False


def _is_flat(head: bytes) -> bool:
    """Has a NumPy array one or two dimensions? Of more, such as a picture's, it is no table."""
    shape = _SHAPE.search(head)
    return shape is not None and len([side for side in shape[1].split(b",") if side.strip() not in (b"", b"1")]) <= 2


def _text(stream: IO[bytes], chosen: Collection[str] | None) -> Batches:
    import pandas as pd

    first = stream.readline(_FIRST_LINE)
    separator = max(",\t;|", key=lambda mark: first.count(mark.encode()))
    columns = first.count(separator.encode()) + 1
    if columns > _WIDEST or len(first) == _FIRST_LINE:
        raise DataError(
            f"its first line has {columns:,} cells or more: it is read as a table up to {_WIDEST:,} columns"
        )
    rows = min(BATCH, max(1, _CELLS // columns))
    options: dict[str, Any] = {"sep": separator, "dtype": str, "keep_default_na": False, "encoding_errors": "replace"}
    names = list(pd.read_csv(io.BytesIO(first), nrows=0, **options).columns)
    wanted = [name for name in names if chosen is None or name in chosen]
    left = yield from plain_batches(stream, names, separator, rows, wanted)
    if not left:
        return
    rest = io.BufferedReader(_Joined(first + left, stream))
    with pd.read_csv(rest, chunksize=rows, on_bad_lines="skip", **options) as reader:
        for frame in reader:
            if isinstance(frame.index, pd.RangeIndex):
                yield frame.reset_index(drop=True).fillna("")
            else:  # rows with more cells than the header: the first ones would be their index
                yield frame.reset_index().fillna("")


def _batches(records: Iterable[dict[str, str]]) -> Batches:
    import pandas as pd

    rows = iter(records)
    while batch := list(itertools.islice(rows, BATCH)):
        yield pd.DataFrame(batch).fillna("")


def _of_array(array: NDArray[Any]) -> DataFrame:
    import pandas as pd
    import polars as pl

    if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4:
        return pd.DataFrame(array).astype(str).rename(columns=str)
    columns = array.T if array.ndim == 2 else [array]  # polars writes numbers ten times as fast as pandas
    texts = (pl.Series(column.copy()).cast(pl.String).to_list() for column in columns)
    return pd.DataFrame(dict(zip(map(str, range(len(columns))), texts, strict=True)))


def _columnar(kind: str, stream: Any) -> Batches:
    import polars as pl

    if kind == "parquet":
        stream.seek(0)
        for frame in pl.scan_parquet(stream).collect_batches(chunk_size=BATCH):
            yield _of_polars(frame)
        return
    frame = pl.read_ipc(io.BytesIO(_whole(stream)))
    for start in range(0, frame.height, BATCH):
        yield _of_polars(frame[start : start + BATCH])


def _of_polars(frame: Any) -> DataFrame:
    import pandas as pd

    return pd.DataFrame({column.name: ["" if v is None else str(v) for v in column] for column in frame})


def _of_json(part: str, value: Any) -> Iterator[tuple[str, DataFrame]]:
    """Lists of records or of values, and mappings from keys to values, records or lists, in a mapping or not."""
    import pandas as pd

    if not isinstance(value, (list, dict)) or not value:
        return
    inner = list(value.values() if isinstance(value, dict) else value)
    if isinstance(value, list):
        frame = pd.DataFrame(value if isinstance(inner[0], (dict, list)) else {"value": value})
        yield part, frame.astype(str).rename(columns=str)
        return
    if all(isinstance(each, dict) for each in inner):
        frame = pd.DataFrame.from_dict(value, orient="index")
        yield part, frame.reset_index().astype(str).rename(columns=str)
    elif len(value) > 1:
        yield part, pd.DataFrame({"key": list(value), "value": list(map(str, inner))})
    nested = all(isinstance(each, (list, dict)) for each in inner)
    if nested and len({(type(each), len(each)) for each in inner}) == 1 and len(inner[0]) > 1:
        yield part, pd.DataFrame(value).reset_index().astype(str).rename(columns=str)
    if not part:
        for key, each in value.items():
            yield from _of_json(f"#{key}", each)


def _unreadable() -> tuple[type[Exception], ...]:
    from sqlite3 import Error

    from polars.exceptions import PolarsError

    from mlecore_audit.files import BROKEN

    return (*BROKEN, TypeError, AttributeError, KeyError, ImportError, PolarsError, Error)
