"""Public files as an agent could read them: all names, and every table that their contents hold, archives included."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

_LARGEST = 64 << 20  # bytes of a file or member that is read
_DEPTH = 3  # of archives in archives
_HEAD = 512  # bytes that show what a file is
_STARTS = {
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\0": "lzma",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x93NUMPY": "numpy",
}

Table = tuple[str, "DataFrame"]


def names(root: Path, folder: Path) -> Iterator[str]:
    """Path relative to ``root`` of every file below ``folder``, and of members of archives: ``x.zip!train/1.jpg``."""
    from mlecore.prepare.archives import members

    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        yield name
        with suppress(DataError):  # no archive, or none that can be read
            yield from [f"{name}!{member}" for member in members(path)]


def tables(root: Path, folder: Path, rows: int = 1) -> Iterator[Table]:
    """Every table of at least about so many rows below ``folder``, each cell as text, with its path below ``root``.

    What a file is, is seen by its content, not by its name: text with a separator, JSON and JSON lines, Parquet, Arrow
    and NumPy files, packed or not. What cannot be read as any of these is passed over.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                yield from _tables(path.relative_to(root).as_posix(), file, path.stat().st_size, rows, _DEPTH)


def numbers_of(texts: Iterable[str]) -> NDArray[np.float64]:
    """NaN for what is no number. (``pandas.to_numeric`` ends the process at 1e2147483648, and ids may look like it.)"""
    import polars as pl

    read = pl.Series(list(texts), dtype=pl.String).cast(pl.Float64, strict=False)
    return read.fill_null(float("nan")).to_numpy()


def _tables(name: str, file: IO[bytes], size: int, rows: int, depth: int) -> Iterator[Table]:
    head = file.read(_HEAD)
    kind = _kind(head)
    packed = kind in ("zip", "7z", "tar", "gzip", "bz2", "lzma")
    if (
        not kind
        or (packed and depth == 0)
        or (kind in ("text", "json") and size < 2 * rows)
        or (kind != "zip" and size > _LARGEST)
    ):
        return
    file.seek(0)
    try:
        match kind:
            case "zip" | "tar" | "7z":
                for member, content, length in _members(kind, file):
                    yield from _tables(f"{name}!{member}", content, length, rows, depth - 1)
            case "gzip" | "bz2" | "lzma":
                data = _unpacked(kind, file)
                yield from _tables(name, io.BytesIO(data), len(data), rows, depth - 1)
            case _:
                for part, frame in _read(kind, file.read(), rows):
                    if len(frame) + 1 >= rows:
                        yield f"{name}{part}", frame
    except _unreadable():
        return


def _kind(head: bytes) -> str:
    """Empty for what is no table and no archive."""
    if head[257:262] == b"ustar":
        return "tar"
    known = next((kind for start, kind in _STARTS.items() if head.startswith(start)), None)
    if known is not None:
        return known
    if not head.strip() or b"\0" in head or head.startswith((b"\xff\xd8", b"\x89PNG", b"II*", b"RIFF", b"OggS")):
        return ""
    return "json" if head.lstrip()[:1] in (b"[", b"{") else "text"


def _unreadable() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    from polars.exceptions import PolarsError

    broken = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, PolarsError)
    return (ValueError, TypeError, OSError, EOFError, RuntimeError, DataError, *broken)


def _members(kind: str, file: IO[bytes]) -> Iterator[tuple[str, IO[bytes], int]]:
    """Name, content and size of each file in an archive.

    Unlike ``extract``, which refuses a whole archive for a link or a name that comes twice, this reads the rest of it:
    an agent can do so too.
    """
    if kind == "zip":
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                with archive.open(info) as member:
                    yield info.filename, member, info.file_size
    elif kind == "tar":
        with tarfile.open(fileobj=file) as tar:
            for entry in tar:
                if entry.isreg() and (content := tar.extractfile(entry)) is not None:
                    yield entry.name, content, entry.size
    else:
        from mlecore.prepare.archives import extract

        with tempfile.TemporaryDirectory() as name:
            packed, into = Path(name, "x.7z"), Path(name, "out")
            packed.write_bytes(file.read())
            extract(packed, into)
            for path in sorted(into.rglob("*")):
                if path.is_file():
                    with path.open("rb") as content:
                        yield path.relative_to(into).as_posix(), content, path.stat().st_size


def _unpacked(kind: str, file: IO[bytes]) -> bytes:
    """At most as much as is read of a file."""
    import importlib

    with importlib.import_module(kind).open(file) as stream:
        data: bytes = stream.read(_LARGEST)
    return data


def _read(kind: str, data: bytes, rows: int) -> Iterator[Table]:
    """The tables of a file, each with what is added to the file's name."""
    import pandas as pd

    if kind == "text":
        if data.count(b"\n") + 1 < rows:
            return
        first = data.partition(b"\n")[0]
        separator = max(",\t;|", key=lambda mark: first.count(mark.encode()))
        text = io.BytesIO(data)
        yield "", pd.read_csv(text, sep=separator, dtype=str, keep_default_na=False, encoding_errors="replace")
    elif kind == "json":
        if len(data) < 2 * rows:  # a value and what separates it from the next
            return
        yield from _of_json("", _parsed(data), rows)
    elif kind == "numpy":
        import numpy as np

        array = np.load(io.BytesIO(data), allow_pickle=False)
        if array.ndim in (1, 2):
            yield "", pd.DataFrame(array).astype(str).rename(columns=str)
    else:
        import polars as pl

        read = pl.read_parquet if kind == "parquet" else pl.read_ipc
        yield "", pd.DataFrame({column.name: list(map(str, column)) for column in read(io.BytesIO(data))})


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.strip()]


def _of_json(part: str, value: Any, rows: int) -> Iterator[Table]:
    """Lists of records or of values, and mappings from keys to values, records or lists, in a mapping or not."""
    import pandas as pd

    if not isinstance(value, (list, dict)) or not value:
        return
    inner = list(value.values() if isinstance(value, dict) else value)
    long = len(value) + 1 >= rows
    columns = isinstance(value, dict) and all(isinstance(each, (list, dict)) for each in inner)
    if isinstance(value, list) and long:
        frame = pd.DataFrame(value if isinstance(inner[0], (dict, list)) else {"value": value})
        yield part, frame.astype(str).rename(columns=str)
    elif isinstance(value, dict) and long and all(isinstance(each, dict) for each in inner):
        frame = pd.DataFrame.from_dict(value, orient="index")
        yield part, frame.reset_index().astype(str).rename(columns=str)
    elif isinstance(value, dict) and long:
        yield part, pd.DataFrame({"key": list(value), "value": list(map(str, inner))})
    if columns and len({(type(each), len(each)) for each in inner}) == 1 and len(inner[0]) + 1 >= rows:
        yield part, pd.DataFrame(value).reset_index().astype(str).rename(columns=str)
    if isinstance(value, dict) and not part:
        for key, each in value.items():
            yield from _of_json(f"#{key}", each, rows)
