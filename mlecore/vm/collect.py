"""Copy files out of a job's home. It is hostile: links, FIFOs, sparse files, and changes in the meantime.

Every folder and file is opened by its name in the folder opened before it, without following links and without
waiting, and checked after opening.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath

from mlecore.backends import OUTSIDE_LOGS, Fetched
from mlecore.errors import BackendError
from mlecore.fetching import Receiver, Selection
from mlecore.globs import Glob

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


def collect(home: Path, globs: Sequence[str], into: Path, max_bytes: int, max_files: int, outside: Path) -> Fetched:
    """See ``Backend.fetch``; ``outside`` is the folder where relay and gateway write, if the job has them."""
    wanted = [Glob(text) for text in globs]
    receiver = Receiver(into, max_bytes, max_files)
    select(receiver, home, wanted, outside)
    return receiver.fetched()


def select(receiver: Selection, home: Path, wanted: Sequence[Glob], outside: Path) -> None:
    """Offer all files that match to ``receiver``."""
    for path in OUTSIDE_LOGS:
        with contextlib.suppress(FileNotFoundError), (outside / path.name).open("rb") as source:
            receiver.take_outside_log(path, wanted, source)
    try:
        root = os.open(home, _FOLDER)
    except OSError as error:
        raise BackendError(f"cannot read {home}: {error.strerror}") from None
    walk = _Walk(receiver)
    try:
        for glob in wanted:
            walk.begin(root, glob)
    finally:
        os.close(root)


class _Walk:
    """Through folders, one glob after the other."""

    def __init__(self, receiver: Selection) -> None:
        self._receiver = receiver
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
            self._receiver.refuse(inner, "a symbolic link, not a folder")
        elif stat.S_ISDIR(seen.st_mode):
            with self._opened(folder, inner) as opened:
                if opened is not None:
                    self._along(opened, inner, above[1:], last, glob)

    def _folder(self, folder: int, path: PurePosixPath, glob: Glob) -> None:
        names = self._names(folder, path)
        if not names and glob.matches(path):
            self._receiver.pass_empty(path)
        for name in names:
            if self._receiver.full:
                return
            self._entry(folder, path / name, glob)

    def _names(self, folder: int, path: PurePosixPath) -> list[str]:
        try:
            with os.scandir(folder) as found:
                names = [entry.name for entry in islice(found, MAX_ENTRIES - self._entries + 1)]
        except OSError as error:
            self._receiver.refuse(path, error.strerror or "cannot be read")
            return []
        self._entries += len(names)
        if self._entries > MAX_ENTRIES and names:
            self._entries -= 1
            self._receiver.cut(path, f"not read further after {MAX_ENTRIES} names in total")
            names.pop()
        return sorted(names)

    def _entry(self, folder: int, path: PurePosixPath, glob: Glob) -> None:
        matches = glob.matches(path)
        try:
            seen = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self._receiver.refuse(path, error.strerror or "cannot be read")
            return
        if not stat.S_ISDIR(seen.st_mode):
            if matches:
                self._file(folder, path, seen)
        elif glob.leads_into(path) and path.parts != ("data",):
            if len(path.parts) > MAX_DEPTH:
                self._receiver.cut(path, f"more than {MAX_DEPTH} folders deep")
                return
            with self._opened(folder, path) as inner:
                if inner is not None:
                    self._folder(inner, path, glob)

    @contextmanager
    def _opened(self, folder: int, path: PurePosixPath) -> Iterator[int | None]:
        try:
            inner = os.open(path.name, _FOLDER, dir_fd=folder)
        except OSError as error:
            self._receiver.refuse(path, error.strerror or "cannot be opened")
            yield None
            return
        try:
            yield inner
        finally:
            os.close(inner)

    def _file(self, folder: int, path: PurePosixPath, seen: os.stat_result) -> None:
        receiver = self._receiver
        if not receiver.wants(path):
            return
        for is_kind, why in _KINDS:
            if is_kind(seen.st_mode):
                receiver.refuse(path, why)
                return
        try:
            descriptor = os.open(path.name, _FILE, dir_fd=folder)
        except OSError as error:
            receiver.refuse(path, error.strerror or "cannot be opened")
            return
        with os.fdopen(descriptor, "rb", buffering=0) as source:
            now = os.fstat(descriptor)
            if not stat.S_ISREG(now.st_mode):
                receiver.refuse(path, "it is no longer a file")
                return
            try:
                receiver.take(path, now.st_size, source)
            except OSError as error:
                receiver.refuse(path, error.strerror or "cannot be read")
