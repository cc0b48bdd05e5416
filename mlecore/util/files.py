"""Files and folders on disk: replaced whole, made durable, removed whatever their modes.

Groups of runs and data directories are written with it. Tests can make each operation fail. (The supervisor of jobs
runs without mlecore and has a few lines of its own.)
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlecore.errors import DataError, UsageError
from mlecore.util.regular import open_regular, read_regular

Fault = Callable[[str, Path], None]

_fault: Fault | None = None
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
WRITABLE = 0o222
"""Permissions that raw files lose, so that nothing changes them."""
_SECRET_BYTES = 32
_MANY = 500  # files; from here on, one sync of everything is cheaper than one per file


def _before(operation: str, path: Path) -> None:
    if _fault is not None:
        _fault(operation, path)


@contextmanager
def faults(fault: Fault) -> Iterator[None]:
    """For tests: ``fault(operation, path)`` is called before every operation and may raise to replace it."""
    global _fault
    _fault = fault
    try:
        yield
    finally:
        _fault = None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss, if the file system can."""
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
    """Remove what has the temporary name: the rest of a killed process, or a link that would redirect the write."""
    if os.path.lexists(temporary):
        remove(temporary)


def replace(path: Path, content: bytes, *, keep_previous: bool = False) -> None:
    """Give a file new content: whole, or not at all. With ``keep_previous`` the old content is kept next to it.

    Renaming never tears a file, but a disk that does not honour fsync may; then the previous content helps.
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
    """The name under which new content is written."""
    return path.with_name(f".{path.name}.tmp")


def previous(path: Path) -> Path:
    """The name under which ``replace`` keeps the previous content."""
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
    temporary.unlink(missing_ok=True)  # renaming a link to another link of the same file does nothing


def publish(path: Path, content: bytes) -> bool:
    """Create a file that must never be replaced. False: it existed already and is unchanged."""
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
        published = not path.exists()  # no race: the lock's holder is the only writer
        if published:
            new.replace(path)
    _before("unlink", new)
    new.unlink(missing_ok=True)
    _before("sync", path.parent)
    sync_folder(path.parent)
    return published


def random_secret(path: Path) -> bytes:
    """The 32 random bytes of a file that only this user can read. It is created on first use; the first process wins.

    Raises OSError, and DataError if the name belongs to anything else.
    """
    import secrets

    if not path.exists():
        _before("write", path)
        make_folder(path.parent)
        new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(secrets.token_bytes(_SECRET_BYTES))
                out.flush()
                os.fsync(out.fileno())
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError as error:
            if not _no_links(error):
                raise
            if not path.exists():
                new.rename(path)
        finally:
            new.unlink(missing_ok=True)
        sync_folder(path.parent)
    content = read_regular(path, _SECRET_BYTES)
    if len(content) != _SECRET_BYTES:
        raise DataError("it is damaged")
    return content


def _no_links(error: OSError) -> bool:
    return error.errno in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOSYS)


def link_or_copy(path: Path, target: Path) -> None:
    """Give a file's content another name, atomically; replaces an existing file."""
    _link(path, target)
    _before("sync", target.parent)
    sync_folder(target.parent)


def rename(path: Path, target: Path) -> None:
    """Move a file or folder to an unused name, durably."""
    _before("rename", target)
    path.rename(target)
    _before("sync", target.parent)
    sync_folder(target.parent)


def make_folder(path: Path, *, below: Path | None = None, exist_ok: bool = True) -> None:
    """Create a folder and its parents, durably. With ``below``, that folder must exist, and only folders in it are
    created.

    When a disk is unmounted, its mount point stays, and files written there disappear once it is mounted again.
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
    """Replace a folder by a finished one next to it. After a kill in between, ``recover`` finishes the job."""
    old = _old(target)
    remove(old)
    if target.exists():
        _before("rename", old)
        target.rename(old)
    rename(new, target)
    remove(old)


def recover(target: Path) -> None:
    """Clean up after a killed process: finish a ``swap``, remove folders that were being built or discarded."""
    old = _old(target)
    if old.exists() and not target.exists():
        rename(old, target)
    for left in (old, partial(target), _trash(target)):
        remove(left)


def discard(target: Path) -> None:
    """Remove a large folder that nobody may see half removed: it is renamed first, so that ``recover`` finds it."""
    trash = _trash(target)
    remove(trash)
    if target.exists():
        rename(target, trash)
        remove(trash)


def partial(target: Path) -> Path:
    """The name under which a file or folder is built."""
    return target.with_name(target.name + ".partial")


def _trash(target: Path) -> Path:
    return target.with_name(target.name + ".trash")


def _old(target: Path) -> Path:
    return target.with_name(target.name + ".old")


def remove(path: Path) -> None:
    """Remove a file or folder if it exists, even if it is read-only, closed, full of links or very deep.

    Raises OSError if something cannot be removed.
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
    except (OSError, RecursionError):  # rmtree handles neither closed folders nor great depth
        import subprocess

        from mlecore.util.child_environment import child_environment

        subprocess.run(["chmod", "-R", "u+rwX", "--", path], env=child_environment(), capture_output=True, check=False)
        done = subprocess.run(
            ["rm", "-rf", "--", path], env=child_environment(), capture_output=True, errors="replace", check=False
        )
        if done.returncode != 0:
            raise OSError(errno.EIO, done.stderr.strip()[-300:], str(path)) from None


def append(path: Path, line: str) -> None:
    """Add one line to a journal. Not synced: a journal may lose its last lines in a power loss, a record may not.

    Raises DataError if the name is not a regular file's, OSError.
    """
    _before("append", path)
    descriptor = open_regular(path, below=path.parent, flags=os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with os.fdopen(descriptor, "ab", buffering=0) as out:
        out.write(line.encode("utf-8", "backslashreplace") + b"\n")


def sync_tree(folder: Path) -> None:
    """Make everything below a folder survive a power loss."""
    _before("sync tree", folder)
    paths: list[Path] = []
    for where, _, names in os.walk(folder):
        if len(paths) + len(names) > _MANY:
            os.sync()
            return
        paths.append(Path(where))
        paths.extend(Path(where, name) for name in names)
    for path in reversed(paths):
        try:
            descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
        except PermissionError:
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_meanwhile(count: int) -> None:
    """Start writing to disk now, so that a later ``sync_tree`` of ``count`` new files waits less."""
    if count > _MANY:
        import threading

        threading.Thread(target=os.sync, daemon=True).start()


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


def write_all(descriptor: int, data: bytes | bytearray) -> None:
    """Write all of ``data``, however little the disk takes at once."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


@contextmanager
def output(target: Path) -> Iterator[Path]:
    """A temporary path for a file or folder that the user named. It gets its name when the block ends, replacing a
    file.

    A failure leaves nothing behind. Follows links; writes to pipes and devices directly. Every OSError becomes a
    UsageError.
    """
    at = Path(os.path.realpath(target))
    new = at.with_name(f".{at.name}.partial")
    try:
        if at.exists() and not (at.is_file() or at.is_dir()):
            yield at
            return
        _clear(new)
        yield new
        _before("rename", at)
        new.replace(at)
        sync_folder(at.parent)
    except OSError as error:
        elsewhere = error.filename and not str(error.filename).startswith((str(new), str(at)))
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise UsageError(
            f"{target} cannot be written: {error.strerror or error}" + (f": {error.filename}" if elsewhere else ""),
            fix="Free some room, or name another place." if full else "Name another place, or make this one writable.",
        ) from None
    finally:
        with suppress(OSError):
            remove(new)
