"""Locks of folders: one process at a time holds one, and every other learns who does.

filelock's FileLock (flock, or the equivalent on Windows), which the kernel frees when its holder dies. On a file system
without it (some NFS mounts) its SoftFileLock, which takes over from a dead process of this host. Next to the lock lies
a file that names the holder; a holder that calls ``beat`` can also be told from a dead one on another host.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError, MlecoreError
from mlecore.regular import open_regular, read_regular

if TYPE_CHECKING:
    from filelock import BaseFileLock

BEAT = 5.0  # seconds between heartbeats
PATIENCE = 3.5 * BEAT  # a holder without a heartbeat is dead after this; by our own clock, as others may be wrong

_NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_POLL = 0.2  # seconds between two tries to take a lock that somebody else holds
_TRIED = 0.2  # seconds of one try: another process may only be checking whether the lock is held, see ``holder``
_LONGEST = 4096  # bytes of a file that names a holder
_PADDED = 400  # bytes: a shorter text never leaves the end of a longer one


class LockHeld(MlecoreError):
    """Somebody else holds the lock."""


class Lock:
    """Held from ``acquire`` to ``release``."""

    def __init__(self, path: Path, activity: str, *, fix: str, say: Callable[[str], None] = lambda text: None) -> None:
        """``path``: of the lock file, which stays. ``activity``: "preparing tiny"; others are told, and ``fix`` too.
        ``say``: takes remarks."""
        self.path = path
        self.marker = _marker(path)
        self._fix = fix
        self._say = say
        import secrets
        import socket

        self._me = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "activity": activity,
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "token": secrets.token_hex(8),
        }
        self._lock: BaseFileLock | None = None

    def acquire(self, wait: Callable[[str], bool] | None = None) -> None:
        """While somebody else holds it, ``wait`` is called about five times a second with a description of the holder;
        without it, or when it returns False, LockHeld is raised.

        Raises DataError if another thing than a file has the lock's name, OSError.
        """
        try:
            while not self._take():
                found = read_holder(self.path)
                if wait is None or not wait(describe(found)):
                    folder = self.path.parent.name
                    raise LockHeld(f"{folder} is in use: {describe(found)}", fix=self._fix + self._leftover(found))
                time.sleep(_POLL)
            self._write_holder()
        except BaseException:
            self.release()
            raise

    def _leftover(self, holder: Mapping[str, Any]) -> str:
        """A marker of another host without heartbeats can only be removed by a person."""
        is_elsewhere = self.marker.exists() and holder.get("host") != self._me["host"] and "beat" not in holder
        return f" If that host is gone, remove {self.marker}." if is_elsewhere else ""

    def _take(self) -> bool:
        from filelock import FileLock, Timeout

        try:
            os.close(open_regular(self.path, below=self.path.parent, flags=os.O_RDWR | os.O_CREAT))
            lock = FileLock(self.path, fallback_to_soft=False, thread_local=False)
            lock.acquire(timeout=_TRIED)
        except DataError as error:
            raise DataError(f"{self.path}: {error.message}", fix="Remove it.") from None
        except Timeout:
            return False
        except OSError as error:
            if error.errno not in _NO_FLOCK:
                raise
            return self._take_marker()
        self._lock = lock
        if self._beats_elsewhere():  # flock may be local to each host on network mounts
            self._lock = None
            lock.release()
            return False
        return True

    def _take_marker(self) -> bool:
        from filelock import SoftFileLock, Timeout

        marker = SoftFileLock(self.marker, thread_local=False)
        with suppress(Timeout):
            marker.acquire(timeout=_TRIED)
            self._lock = marker
            self._say(f"this file system has no flock: holding {self.marker.name} with a heartbeat")
            return True
        found = read_holder(self.path)
        if found.get("host") == self._me["host"] or not found.get("beat") or self._beats_elsewhere():
            return False
        with suppress(FileNotFoundError):  # only one of two that find the same stale marker can move it away
            stale = self.marker.with_name(f"{self.marker.name}.stale-{self._me['token']}")
            self.marker.rename(stale)
            stale.unlink()
        return self._take_marker()

    def _beats_elsewhere(self) -> bool:
        """Does a holder on another host, whose process cannot be looked up, show a heartbeat within PATIENCE?"""
        first = read_holder(self.path)
        if not first.get("beat") or first.get("host") == self._me["host"]:
            return False
        self._say(f"last held by {_who(first)}; waiting for a sign of life, at most {PATIENCE:.0f} s")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(min(1.0, PATIENCE / 10))
            now = read_holder(self.path)
            if now != first:
                return bool(now)
        self._say(f"{_who(first)} shows no sign of life: taking over")
        return False

    def _write_holder(self, **values: Any) -> bool:
        """False if the disk is full or failing: the lock is held all the same."""
        path = _holder_file(self.path)
        try:
            descriptor = open_regular(path, below=path.parent, flags=os.O_WRONLY | os.O_CREAT)
            try:
                os.write(descriptor, json.dumps(self._me | values).encode().ljust(_PADDED))
            finally:
                os.close(descriptor)
        except OSError:
            return False
        return True

    def release(self) -> None:
        """Idempotent. The file that names the holder is removed, so that it only stays after a kill."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        with suppress(OSError):  # the folder may be gone or the disk failing; closing frees the lock anyway
            if self.is_ours():
                _holder_file(self.path).unlink()
        with suppress(OSError):
            lock.release()

    def is_ours(self) -> bool:
        """Does the file that names the holder name us?"""
        return read_holder(self.path).get("token") == self._me["token"]


def is_held(path: Path) -> bool:
    """Does somebody hold the lock? Takes it for a moment at most; leaves no file behind where there is none.

    Raises PermissionError if this user may not take it, other OSErrors.
    """
    from filelock import FileLock, SoftFileLock, Timeout

    marker = _marker(path)
    probe = SoftFileLock(marker) if marker.exists() else FileLock(path, fallback_to_soft=False)
    try:
        probe.acquire(blocking=False)
    except Timeout:
        return True
    probe.release()
    return False


def read_holder(path: Path) -> dict[str, Any]:
    """The last holder: host, pid, activity, since, and the number and time of its last heartbeat; empty after a
    release, or if the file is damaged."""
    try:
        value = json.loads(read_regular(_holder_file(path), _LONGEST, below=path.parent) or b"{}")
    except (OSError, ValueError, RecursionError, DataError):
        return {}
    return value if isinstance(value, dict) else {}


def describe(holder: Mapping[str, Any]) -> str:
    """Who it is, since when, and when it last showed a heartbeat."""
    if not holder:  # being written, or removed just now
        return "another process works on it"
    beat = f" (last heartbeat {holder['at']})" if "at" in holder else ""
    return f"{_who(holder)} is {holder.get('activity', '?')} since {holder.get('since', '?')}{beat}"


def _who(holder: Mapping[str, Any]) -> str:
    return f"process {holder.get('pid', '?')} on host {holder.get('host', '?')}"


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.exclusive")


def _holder_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.holder")
