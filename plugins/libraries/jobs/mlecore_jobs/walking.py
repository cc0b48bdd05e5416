"""Looks for files in a job's home. It is hostile: links, FIFOs, and changes in the meantime.

Every folder and file is opened by its name in the folder opened before it, without following links and without
waiting, and checked after opening. What the agent has locked (mode 0) is unlocked: as an ordinary user's, a sandbox's
files are the user's own, and root needs no key. Standard library alone, Python 3.8 or later: it also runs in pods.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Protocol

from mlecore.util.globs import Glob

MAX_ENTRIES = 500_000  # names that are read
MAX_DEPTH = 48
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_KINDS = (
    (stat.S_ISLNK, "a symbolic link, not a file"),
    (stat.S_ISFIFO, "a FIFO, not a file"),
    (stat.S_ISSOCK, "a socket, not a file"),
    (stat.S_ISCHR, "a device, not a file"),
    (stat.S_ISBLK, "a device, not a file"),
)


class Taker(Protocol):
    """What is told of the files that are found: ``mlecore_jobs.fetching.Selection``, or one like it."""

    full: bool  # nothing more is wanted

    def looked(self) -> None:
        """Called for each name."""

    def wants(self, path: PurePosixPath) -> bool: ...

    def take(self, path: PurePosixPath, size: int, source: IO[bytes]) -> None: ...

    def refuse(self, path: PurePosixPath, why: str) -> None: ...

    def cut(self, path: PurePosixPath, why: str) -> None: ...

    def pass_empty(self, path: PurePosixPath) -> None: ...


def walk(home: str, globs: Sequence[Glob], taker: Taker) -> None:
    """Offer all files below ``home`` that match to ``taker``. Raises OSError if ``home`` cannot be opened."""
    root = _open(home, _FOLDER, None)
    found = _Walk(taker)
    try:
        for glob in globs:
            found.begin(root, glob)
    finally:
        os.close(root)


def _open(name: str, flags: int, folder: int | None) -> int:
    """Open a folder or file, and unlock it first if need be. Raises OSError.

    The inode is held while its mode is changed, so that no link put into its place in the meantime is followed.
    """
    needed = stat.S_IRUSR | (stat.S_IXUSR if flags & os.O_DIRECTORY else 0)
    if os.geteuid() == 0:
        return os.open(name, flags, dir_fd=folder)
    held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(held).st_mode
        itself = f"/proc/self/fd/{held}"
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            with contextlib.suppress(OSError):
                os.chmod(itself, stat.S_IMODE(mode) | needed)  # noqa: PTH101
        return os.open(itself, flags & ~os.O_NOFOLLOW)
    finally:
        os.close(held)


class _Walk:
    """Through folders, one glob after the other."""

    def __init__(self, taker: Taker) -> None:
        self._taker = taker
        self._entries = 0

    def begin(self, root: int, glob: Glob) -> None:
        """Go to the first part with a wildcard: the names before it need no listing."""
        *above, last = glob.prefix.parts or ("",)
        if not last:
            self._folder(root, PurePosixPath(), glob)
            return
        self._along(root, PurePosixPath(), above, last, glob)

    def _along(self, folder: int, path: PurePosixPath, above: Sequence[str], last: str, glob: Glob) -> None:
        if not above:
            self._entry(folder, path / last, glob)
            return
        inner = path / above[0]
        try:
            seen = os.stat(above[0], dir_fd=folder, follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISLNK(seen.st_mode):
            self._taker.refuse(inner, "a symbolic link, not a folder")
        elif stat.S_ISDIR(seen.st_mode):
            with self._opened(folder, inner) as opened:
                if opened is not None:
                    self._along(opened, inner, above[1:], last, glob)

    def _folder(self, folder: int, path: PurePosixPath, glob: Glob) -> None:
        names = self._names(folder, path)
        if not names and glob.matches(path):
            self._taker.pass_empty(path)
        for name in names:
            if self._taker.full:
                return
            self._entry(folder, path / name, glob)

    def _names(self, folder: int, path: PurePosixPath) -> list[str]:
        try:
            with os.scandir(folder) as found:
                names = [entry.name for entry in islice(found, MAX_ENTRIES - self._entries + 1)]
        except OSError as error:
            self._taker.refuse(path, error.strerror or "cannot be read")
            return []
        self._entries += len(names)
        if self._entries > MAX_ENTRIES and names:
            self._entries -= 1
            self._taker.cut(path, f"not read further after {MAX_ENTRIES} names in total")
            names.pop()
        return sorted(names)

    def _entry(self, folder: int, path: PurePosixPath, glob: Glob) -> None:
        self._taker.looked()
        matches = glob.matches(path)
        try:
            seen = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self._taker.refuse(path, error.strerror or "cannot be read")
            return
        if not stat.S_ISDIR(seen.st_mode):
            if matches:
                self._file(folder, path, seen)
        elif glob.leads_into(path) and path.parts != ("data",):
            if len(path.parts) > MAX_DEPTH:
                self._taker.cut(path, f"more than {MAX_DEPTH} folders deep")
                return
            with self._opened(folder, path) as inner:
                if inner is not None:
                    self._folder(inner, path, glob)

    @contextmanager
    def _opened(self, folder: int, path: PurePosixPath) -> Iterator[int | None]:
        try:
            inner = _open(path.name, _FOLDER, folder)
        except OSError as error:
            self._taker.refuse(path, error.strerror or "cannot be opened")
            yield None
            return
        try:
            yield inner
        finally:
            os.close(inner)

    def _file(self, folder: int, path: PurePosixPath, seen: os.stat_result) -> None:
        taker = self._taker
        if not taker.wants(path):
            return
        for is_kind, why in _KINDS:
            if is_kind(seen.st_mode):
                taker.refuse(path, why)
                return
        try:
            descriptor = _open(path.name, _FILE, folder)
        except OSError as error:
            taker.refuse(path, error.strerror or "cannot be opened")
            return
        with os.fdopen(descriptor, "rb", buffering=0) as source:
            now = os.fstat(descriptor)
            if not stat.S_ISREG(now.st_mode):
                taker.refuse(path, "it is no longer a file")
                return
            try:
                taker.take(path, now.st_size, source)
            except OSError as error:
                taker.refuse(path, error.strerror or "cannot be read")
