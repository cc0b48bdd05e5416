"""Rejects file names from data that lead out of their folder, or are too long or too deep for a disk."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError

_DEEPEST = 100  # folders; walking many more ends in a RecursionError
_LONGEST = 2000  # bytes of a relative path: Linux takes 4,095 of a whole one
_LONGEST_PART = 255  # bytes of a name
_SHOWN = 80  # characters of a name in a message
# absolute, a drive, a part "..", a NUL, or nothing at all; a backslash counts as a slash, as it does on Windows
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)|.*\x00|$", re.DOTALL)


def safe_name(name: str) -> str:
    """``name`` itself, a relative path with ``/``; DataError if it could lead out of its folder."""
    if _OUTSIDE.match(name):
        raise DataError(f"{name!r} would be outside the folder that it belongs to")
    return name


def file_name(name: str, where: str = "") -> str:
    """``safe_name`` for a file on this disk. Also raises DataError if the name is too long or too deep."""
    require_holdable(safe_name(name), where)
    return name


def require_holdable(path: str, where: str = "") -> None:
    """Raises DataError if no file can have this relative path, with ``/``. ``where``: its source, for the message."""
    if len(path) * 4 < _LONGEST_PART and path.count("/") <= _DEEPEST:  # most, and quick
        return
    size = len(path.encode(errors="surrogatepass"))
    longest = max(len(part.encode(errors="surrogatepass")) for part in path.split("/"))
    if path.count("/") > _DEEPEST or size > _LONGEST or longest > _LONGEST_PART:
        why = f"{path.count('/'):,} folders deep, {size:,} bytes in all and up to {longest:,} for a name"
        raise _too_long(where, path, why)


@contextmanager
def writing_below(where: Path) -> Iterator[None]:
    """Turns the error of a disk that takes only shorter names into DataError. ``where``: the source of the names."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise _too_long(f"{where}: ", str(error.filename2 or error.filename), "this disk takes less") from None


def _too_long(where: str, path: str, why: str) -> DataError:
    shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}..."
    return DataError(f"{where}the name {shown!r} is too long or too deep for a disk: {why}")
