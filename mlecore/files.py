"""Files and folders on disk: replaced whole, made durable, removed whatever their modes.

Groups of runs and data directories are written with it, and tests can make each operation fail. (The supervisor of the
backend vm runs without mlecore and has its own few lines.)
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlecore.errors import DataError

Fault = Callable[[str, Path], None]

_fault: Fault | None = None
_NOT_WAITING = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_DIRECTORY", "O_CLOEXEC"))
_SYNC = os.O_RDWR if sys.platform == "win32" else os.O_RDONLY  # Windows only writes out what it may write to
WRITABLE = 0 if sys.platform == "win32" else 0o222
"""Permissions that raw files lose, so that nothing changes them. Windows neither replaces nor removes such files."""
_SCRATCH = "mlecore-scratch-"
_ABANDONED = 24 * 3600.0  # seconds, if the disk has no locks that show who is at work
SURELY_HELD = 10.0  # seconds after which the process that made a folder surely holds it
_CHUNK = 1 << 20  # bytes that are read at once of a file that grows, or has no size
_MANY = 500  # files; for more, one sync of everything is cheaper than one per file


def _before(operation: str, path: Path) -> None:
    if _fault is not None:
        _fault(operation, path)


@contextmanager
def faults(fault: Fault) -> Iterator[None]:
    """For tests: ``fault(operation, path)`` is called before every operation, and may raise instead of it."""
    global _fault
    _fault = fault
    try:
        yield
    finally:
        _fault = None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss, where the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # not supported here (some network mounts)
            raise
    finally:
        os.close(descriptor)


def _write_new(path: Path, content: bytes) -> None:
    _before("write", path)
    _clear(path)
    with path.open("xb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _clear(temporary: Path) -> None:
    """Remove what a killed process left under a temporary file's name, or a link that would redirect the writing."""
    if os.path.lexists(temporary):
        remove(temporary)


def replace(path: Path, content: bytes, *, keep_previous: bool = False) -> None:
    """Give a file new content: whole, or not at all. With ``keep_previous`` the old content is kept next to it.

    Renaming cannot tear a file, but a disk that does not honour fsync can; then the previous content helps.
    """
    new = temporary(path)
    _write_new(new, content)
    if keep_previous and path.exists():
        _link(path, previous(path))
    _before("rename", path)
    new.replace(path)
    _before("sync", path.parent)
    sync_folder(path.parent)


def temporary(path: Path) -> Path:
    """Where new content is written before it gets its name."""
    return path.with_name(f".{path.name}.tmp")


def previous(path: Path) -> Path:
    """Where ``replace`` leaves the content before the last one."""
    return path.with_name(f".{path.name}.previous")


def _link(path: Path, target: Path) -> None:
    temporary = target.with_name(f".{target.name.lstrip('.')}.link")
    _before("link", target)
    _clear(temporary)
    try:
        os.link(path, temporary)
    except OSError as error:
        if not _no_links(error):
            raise
        import shutil

        shutil.copyfile(path, temporary)
    temporary.replace(target)
    temporary.unlink(missing_ok=True)  # renaming a link over another one of the same file does nothing at all


def publish(path: Path, content: bytes) -> bool:
    """Put a file in place that must never be replaced. False: it existed already, and is unchanged."""
    new = temporary(path)
    _write_new(new, content)
    _before("publish", path)
    try:
        os.link(new, path)
        published = True
    except FileExistsError:
        published = False
    except OSError as error:
        if not _no_links(error):
            raise
        published = not path.exists()  # the lock holder is the only writer, so that this is no race
        if published:
            new.replace(path)
    _before("unlink", new)
    new.unlink(missing_ok=True)
    _before("sync", path.parent)
    sync_folder(path.parent)
    return published


def _no_links(error: OSError) -> bool:
    return error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOSYS)


def link_or_copy(path: Path, target: Path) -> None:
    """The same content under another name, atomically; replaces an existing file."""
    _link(path, target)
    _before("sync", target.parent)
    sync_folder(target.parent)


def rename(path: Path, target: Path) -> None:
    """Move a file or folder to a name that is free, durably."""
    _before("rename", target)
    path.rename(target)
    _before("sync", target.parent)
    sync_folder(target.parent)


def make_folder(path: Path, *, below: Path | None = None, exist_ok: bool = True) -> None:
    """Make a folder and its parents, durably; only those ``below`` a folder that must be there, if one is named.

    An unmounted disk leaves its mount point: folders made there would take what is written until it is mounted.
    Raises FileNotFoundError.
    """
    if exist_ok and path.is_dir():
        return
    _before("mkdir", path)
    if below is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif path.parent != below:
        make_folder(path.parent, below=below)
    path.mkdir(exist_ok=exist_ok)
    _before("sync", path.parent)
    sync_folder(path.parent)


def swap(new: Path, target: Path) -> None:
    """Replace a folder by a finished one next to it; ``recover`` repairs what a kill in between leaves."""
    old = _old(target)
    remove(old)
    if target.exists():
        _before("rename", old)
        target.rename(old)
    rename(new, target)
    remove(old)


def recover(target: Path) -> None:
    """Clean up after a killed process: finish what ``swap`` began, remove what was being built or discarded."""
    old = _old(target)
    if old.exists() and not target.exists():
        rename(old, target)
    for left in (old, partial(target), _trash(target)):
        remove(left)


def discard(target: Path) -> None:
    """Remove a large folder that must not be seen half removed: it is renamed first, and ``recover`` finds it."""
    trash = _trash(target)
    remove(trash)
    if target.exists():
        rename(target, trash)
        remove(trash)


def partial(target: Path) -> Path:
    """Where a file or folder is built before it gets its name."""
    return target.with_name(target.name + ".partial")


def _trash(target: Path) -> Path:
    return target.with_name(target.name + ".trash")


def _old(target: Path) -> Path:
    return target.with_name(target.name + ".old")


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there: read-only, without permissions, full of links, however deep.

    Raises OSError for what cannot be removed.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    _before("remove", path)
    if not stat.S_ISDIR(mode):
        path.unlink(missing_ok=True)
        return
    import shutil

    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):  # these two cannot handle closed folders or depth
        if sys.platform == "win32":
            raise
        import subprocess

        from mlecore.child_environment import child_environment

        subprocess.run(["chmod", "-R", "u+rwX", "--", path], env=child_environment(), capture_output=True, check=False)
        done = subprocess.run(
            ["rm", "-rf", "--", path], env=child_environment(), capture_output=True, errors="replace", check=False
        )
        if done.returncode != 0:
            raise OSError(errno.EIO, done.stderr.strip()[-300:], str(path)) from None


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder. Those that killed processes left are removed."""
    import tempfile

    for left in abandoned_scratch():
        with suppress(OSError):
            remove(left)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH) as name, held(Path(name)):
        yield Path(name)


def abandoned_scratch() -> Iterator[Path]:
    """Temporary folders of this user's processes that were killed."""
    import tempfile

    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*")):
        with suppress(OSError):  # another user's, or gone meanwhile
            if path.lstat().st_uid == getattr(os, "getuid", int)() and abandoned(path):  # 0 on Windows
                yield path


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder while it is worked on, so that it is not ``abandoned``; the kernel frees it after a kill."""
    if sys.platform == "win32":  # it opens no folders
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def abandoned(folder: Path) -> bool:
    """Has the process died that held this folder? Raises OSError if it cannot be opened."""
    age = time.time() - folder.stat().st_mtime
    if sys.platform == "win32":
        return age > _ABANDONED
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        locked = _lock(descriptor)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return age > (SURELY_HELD if locked else _ABANDONED)


def _lock(descriptor: int) -> bool:
    """False if a disk has no locks. Raises BlockingIOError if somebody else has it."""
    if sys.platform == "win32":
        return False
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def append(path: Path, line: str) -> None:
    """Add one line to a journal. Not synced: a journal may lose its last lines in a power loss, a record may not.

    Raises DataError if something else than a file has its name, OSError.
    """
    _before("append", path)
    descriptor = open_regular(path, below=path.parent, flags=os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with os.fdopen(descriptor, "ab", buffering=0) as out:
        out.write(line.encode("utf-8", "backslashreplace") + b"\n")


def sync_tree(folder: Path) -> None:
    """Make all that lies below a folder survive a power loss."""
    _before("sync tree", folder)
    paths: list[Path] = []
    for where, _, names in os.walk(folder):
        if len(paths) + len(names) > _MANY and sys.platform != "win32":
            os.sync()
            return
        paths.append(Path(where))
        paths.extend(Path(where, name) for name in names)
    for path in reversed(paths):
        try:
            descriptor = os.open(path, _SYNC | _NO_FOLLOW)
        except PermissionError:
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy(source: Path, target: Path) -> None:
    """Copy content from a stream to a file that the caller named, atomically; a link is followed."""
    import shutil

    new = temporary(target)
    _before("write", new)
    _clear(new)
    shutil.copyfile(source, new)
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    _before("rename", target)
    new.replace(target)
    _before("sync", target.parent)
    sync_folder(target.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, however little the disk takes at once."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def read_regular(path: Path, limit: int, *, below: Path | None = None) -> bytes:
    """The content of a regular file, see ``open_regular``. Raises DataError also for more than ``limit`` bytes."""
    descriptor = open_regular(path, below=below)
    try:
        size = os.fstat(descriptor).st_size
        content = os.read(descriptor, min(limit, size) + 1)  # a byte more than there should be
        if len(content) != size:
            while len(content) <= limit and (more := os.read(descriptor, min(limit + 1 - len(content), _CHUNK))):
                content += more
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise DataError(f"it has more than {limit} bytes")
    return content


def open_regular(path: Path, *, below: Path | None = None, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file. With ``below``, a folder that it lies in, no link is followed from there on.

    Raises DataError for anything else (a folder, a pipe, a device: never waited for), OSError.
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
    """As ``relative_to``, which takes longer than opening a file."""
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
