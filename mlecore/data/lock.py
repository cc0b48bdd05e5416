"""One lock per competition, so that two who prepare the same data never mix; it says who holds it.

flock where the file system has it: the kernel frees it when its holders are gone, whatever happened to them. Where it
has not (some NFS mounts), a file that is made exclusively; one left by a killed process of this machine is taken over.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mlecore.errors import DataError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_POLL = 0.2  # seconds between two looks at a lock that somebody else holds


class Locked(DataError):
    """Somebody else holds the lock, and the caller would not wait."""


@contextmanager
def lock(folder: Path, what: str, wait: Callable[[str], bool] | None = None) -> Iterator[None]:
    """Hold the lock of a competition's folder while doing ``what`` ("preparing ...").

    While somebody else holds it, ``wait`` is called about five times a second with who does, in words; without it, or
    when it returns False, Locked is raised.
    """
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(
            f"{error.filename or folder} cannot be written: {error.strerror}",
            fix="Name a data directory that can: --data DIR, or MLECORE_DATA",
        ) from None
    exclusive: Path | None = None
    try:
        try:
            _until(lambda: _flock(descriptor), path, wait)
        except OSError as error:
            if error.errno not in _NO_FLOCK:
                raise DataError(f"{path} cannot be locked: {error.strerror}") from None
            exclusive = folder / ".lock.exclusive"
            _until(lambda: _create(folder / ".lock.exclusive", what), exclusive, wait)
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, _holder(what))
        yield
    finally:
        if exclusive is not None:
            exclusive.unlink(missing_ok=True)
        os.close(descriptor)


def _until(attempt: Callable[[], bool], path: Path, wait: Callable[[str], bool] | None) -> None:
    while not attempt():
        holder = _describe(path)
        if wait is None or not wait(holder):
            raise Locked(
                f"{path.parent.name} is in use: {holder}",
                fix="Wait until it has ended, then try again"
                + (f"; if that machine is gone, remove {path}" if path.suffix == ".exclusive" else ""),
            )
        time.sleep(_POLL)


def _flock(descriptor: int) -> bool:
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no flock here")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _create(path: Path, what: str) -> bool:
    try:
        with path.open("xb") as file:
            file.write(_holder(what))
    except FileExistsError:
        if not _abandoned(path):
            return False
        path.unlink(missing_ok=True)
        return _create(path, what)
    return True


def _holder(what: str) -> bytes:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"what": what, "host": socket.gethostname(), "pid": os.getpid(), "since": now}).encode()


def _read(path: Path) -> dict[str, object]:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):  # just being written, or just gone
        return {}
    return values if isinstance(values, dict) else {}


def _describe(path: Path) -> str:
    values = _read(path)
    if not values:
        return "another process works on it"
    return f"process {values.get('pid')} on {values.get('host')} is {values.get('what')} since {values.get('since')}"


def _abandoned(path: Path) -> bool:
    """Made on this machine by a process that is no more."""
    values = _read(path)
    pid = values.get("pid")
    if values.get("host") != socket.gethostname() or not isinstance(pid, int) or os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
