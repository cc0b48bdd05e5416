"""Locks of folders. One process at a time holds a lock, and the others get an error that names it.

This is filelock's FileLock (flock, or the equivalent on Windows), which the kernel frees when the holder dies. On a
file system without it (some NFS mounts) it is SoftFileLock, which takes over from a dead process of this host. A file
next to the lock names the holder. If the holder calls ``beat``, other hosts can tell it from a dead one, too.
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
from mlecore.util.regular import open_regular, read_regular

if TYPE_CHECKING:
    from filelock import BaseFileLock

BEAT = 5.0  # seconds between heartbeats
PATIENCE = 3.5 * BEAT  # a holder without a heartbeat for so long is dead, by this host's clock

_NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_POLL = 0.2  # seconds between attempts to take a held lock
_TRIED = 0.2  # seconds per attempt: another process may just be checking the lock (``is_held``)
_LONGEST = 4096  # bytes of a file that names the holder
_PADDED = 400  # bytes: texts are padded, so that a shorter one overwrites a longer one


class LockHeld(MlecoreError):
    """Another process holds the lock."""


class Lock:
    """A lock that is held from ``acquire`` to ``release``."""

    def __init__(self, path: Path, activity: str, *, fix: str, say: Callable[[str], None] = lambda text: None) -> None:
        """``path``: the lock file, which stays. ``activity`` ("preparing tiny") and ``fix`` are shown to other
        processes. ``say`` receives remarks."""
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
        """Take the lock. While another process holds it, ``wait`` is called about five times a second with a
        description of the holder. Without ``wait``, or if it returns False, LockHeld is raised.

        Raises DataError if the lock's name is not a file's, OSError.
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
        """The fix for a marker of another host without heartbeats, which only a person can remove."""
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
        with suppress(FileNotFoundError):  # of two processes that find the same stale marker, one moves it away
            stale = self.marker.with_name(f"{self.marker.name}.stale-{self._me['token']}")
            self.marker.rename(stale)
            stale.unlink()
        return self._take_marker()

    def _beats_elsewhere(self) -> bool:
        """Does a holder on another host, whose process cannot be checked, show a heartbeat within PATIENCE?"""
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
        """Write the holder's file. False if the disk is full or failing; the lock is held anyway."""
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
        """Release the lock; idempotent. The holder's file is removed, so that it only stays after a kill."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        with suppress(OSError):  # the folder may be missing or the disk failing; closing frees the lock anyway
            if self.is_ours():
                _holder_file(self.path).unlink()
        with suppress(OSError):
            lock.release()

    def is_ours(self) -> bool:
        """Does the holder's file name this lock?"""
        return read_holder(self.path).get("token") == self._me["token"]


def is_held(path: Path) -> bool:
    """Is the lock held? May take it for a moment; creates no file.

    Raises PermissionError if this user may not take it, and other OSErrors.
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
    if not holder:  # just being written or removed
        return "another process works on it"
    beat = f" (last heartbeat {holder['at']})" if "at" in holder else ""
    return f"{_who(holder)} is {holder.get('activity', '?')} since {holder.get('since', '?')}{beat}"


def _who(holder: Mapping[str, Any]) -> str:
    return f"process {holder.get('pid', '?')} on host {holder.get('host', '?')}"


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.exclusive")


def _holder_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.holder")
