"""Reads regular files where agents may have left anything else. Follows no link and waits for no pipe."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import DataError

_NOT_WAITING = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_DIRECTORY", "O_CLOEXEC"))
_CHUNK = 1 << 20  # bytes per read of a file that grows or has no size


def read_regular(path: Path, limit: int, *, below: Path | None = None) -> bytes:
    """The content of a regular file, as ``open_regular`` opens it. More than ``limit`` bytes are a DataError, too."""
    descriptor = open_regular(path, below=below)
    try:
        size = os.fstat(descriptor).st_size
        content = os.read(descriptor, min(limit, size) + 1)  # one byte more, to notice a longer file
        if len(content) != size:
            while len(content) <= limit and (more := os.read(descriptor, min(limit + 1 - len(content), _CHUNK))):
                content += more
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise DataError(f"it has more than {limit} bytes")
    return content


def open_regular(path: Path, *, below: Path | None = None, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file. ``below``: a folder above it, from which on no link is followed.

    Raises DataError for anything else (a folder, a pipe, a device), without waiting, and OSError.
    """
    flags |= _NOT_WAITING
    try:
        if below is None:
            descriptor = os.open(path, flags, 0o644)
        else:
            descriptor = _open_unlinked(below, _parts_below(below, path), flags)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ENXIO):  # a folder or a pipe, opened for writing
            raise DataError("it is not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DataError("it is not a regular file")
    return descriptor


def _parts_below(top: Path, path: Path) -> tuple[str, ...]:
    """``relative_to``, but faster: that takes longer than opening a file."""
    above = top.parts
    if path.parts[: len(above)] != above:
        raise ValueError(f"{path} is not in {top}")
    return path.parts[len(above) :]


def _open_unlinked(top: Path, parts: tuple[str, ...], flags: int) -> int:
    if os.open not in os.supports_dir_fd:
        path = top.joinpath(*parts)
        if any(part.is_symlink() for part in (path, *path.parents[: len(parts) - 1])):
            raise DataError("it is a symbolic link, or its path leads through one")
        return os.open(path, flags, 0o644)
    at, part = None, os.path.join(top, parts[0])  # noqa: PTH118 - faster.  O_NOFOLLOW is about the last name of a path
    try:
        for name in parts[1:]:
            inner = os.open(part, _FOLDER | _NO_FOLLOW, dir_fd=at)
            if at is not None:
                os.close(at)
            at, part = inner, name
        return os.open(part, flags | _NO_FOLLOW, 0o644, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(part, at):
            raise DataError("it is a symbolic link, or its path leads through one") from None
        raise
    finally:
        if at is not None:
            os.close(at)


def _is_link(name: str, folder: int | None) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def regular_files(folder: Path) -> Iterator[Path]:
    """Every regular file below a folder, in order; follows no links."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if is_regular(path := Path(where, name)):
                yield path


def is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
