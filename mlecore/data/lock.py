"""One lock per competition, so that two processes never prepare the same data at once; it names its holder.

filelock's FileLock (flock, or what Windows has), which the kernel frees when its holder ends; if the file system
has none (some NFS mounts), its SoftFileLock, which takes over from a killed process of this machine.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_POLL = 0.2  # seconds between two tries to take a lock that somebody else holds


class Locked(DataError):
    """Somebody else holds the lock, and the caller would not wait."""


@contextmanager
def lock(folder: Path, what: str, wait: Callable[[str], bool] | None = None) -> Iterator[None]:
    """Hold the lock of a competition's folder while doing ``what`` ("preparing ...").

    While somebody else holds it, ``wait`` is called about five times a second with who does, in words; without it, or
    when it returns False, Locked is raised.
    """
    from filelock import FileLock, SoftFileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            held = _acquire(FileLock(folder / ".lock", fallback_to_soft=False), folder, wait)
        except OSError as error:
            if error.errno not in _NO_FLOCK:
                raise
            held = _acquire(SoftFileLock(folder / ".lock.exclusive"), folder, wait)
    except OSError as error:
        raise DataError(
            f"{error.filename or folder} cannot be written or locked: {error.strerror}",
            fix="Name another data directory: --data DIR, or MLECORE_DATA",
        ) from None
    holder = folder / ".lock.holder"
    try:
        holder.write_text(json.dumps(_me(what)), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        held.release()


def _acquire(held: BaseFileLock, folder: Path, wait: Callable[[str], bool] | None) -> BaseFileLock:
    from filelock import Timeout

    while True:
        try:
            held.acquire(blocking=False)
            return held
        except Timeout:
            holder = _describe(folder / ".lock.holder")
        if wait is None or not wait(holder):
            path = Path(held.lock_file)
            raise Locked(
                f"{folder.name} is in use: {holder}",
                fix="Wait until it has ended, then try again"
                + (f"; if that machine is gone, remove {path}" if path.suffix == ".exclusive" else ""),
            )
        time.sleep(_POLL)


def _me(what: str) -> dict[str, object]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"what": what, "host": socket.gethostname(), "pid": os.getpid(), "since": now}


def _describe(path: Path) -> str:
    try:
        values = json.loads(path.read_bytes())
        return f"process {values['pid']} on {values['host']} is {values['what']} since {values['since']}"
    except (OSError, ValueError, TypeError, KeyError):  # being written, or removed just now
        return "another process works on it"
