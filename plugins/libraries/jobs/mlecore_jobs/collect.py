"""Copy files out of a job's home. It is hostile: links, FIFOs, sparse files, and changes in the meantime.

Every folder and file is opened by its name in the folder opened before it, without following links and without
waiting, and checked after opening. What the agent has locked (mode 0) is unlocked: as an ordinary user's, a sandbox's
files are the user's own, and root needs no key.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath

from mlecore.errors import BackendError
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import OUTSIDE_LOGS, Fetched, Receiver, Selection

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
        root = _open(str(home), _FOLDER, None)
    except OSError as error:
        if not _spoilt(home):
            raise BackendError(f"cannot read {home}: {error.strerror}") from None
        receiver.refuse("", f"its home cannot be read: {error.strerror}")
        return
    walk = _Walk(receiver)
    try:
        for glob in wanted:
            walk.begin(root, glob)
    finally:
        os.close(root)


def _spoilt(home: Path) -> bool:
    """Is it the agent's doing that its home cannot be read? Without a sandbox, it can even replace it."""
    try:
        mode = home.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISDIR(mode) or mode & stat.S_IRWXU != stat.S_IRWXU


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
            inner = _open(path.name, _FOLDER, folder)
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
            descriptor = _open(path.name, _FILE, folder)
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
