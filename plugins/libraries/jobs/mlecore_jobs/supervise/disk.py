"""What a job has written, counted from outside by ``du`` beside the supervisor: a tree may be deep and hostile."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from .namespaces import Entrance

_LONGEST = 100.0  # seconds from one count to the next, however slow the disk is
_FULL = 1 << 20  # bytes: with fewer left, a disk counts as full
_COUNT = 'shm=$1; shift; du -skx -- "$@"; echo files; du -sx --inodes -- "$@"; echo memory; cat "$shm"'
_COUNT += '; for kind in sem msg; do echo $kind; cat "${shm%shm}$kind"; done'
_OPEN = 'shm=$1; shift; find "$@" -xdev -type d ! -perm -500 -exec chmod u+rx {} \\;; set -- "$shm" "$@"; '
_RSS = 14  # column of /proc/sysvipc/shm
_HELD = 3  # of sem and msg: semaphores, bytes
_SEMAPHORE = 64  # bytes


class Count:
    """One after the other, each by a process of its own; none is waited for.

    It runs in the sandbox's IPC namespace, whose shared memory no other process sees, and with the rights of the one
    who made its user namespace: an agent can make a folder that only they can read.
    """

    def __init__(self, folders: list[str], every: float, opens: bool = False, limit: int | None = None) -> None:
        """``opens``: make folders readable first, as nobody else can read those of this user that are not.

        ``limit``: bytes; count sooner if so much of the disk was taken meanwhile that it may be exceeded.
        """
        self._folders = folders
        self._script = _OPEN + _COUNT if opens else _COUNT
        self._every = every
        self._next = time.monotonic() + min(every, 1.0)
        self._soonest = 0.0
        self._limit = limit
        self._free = _free(folders[0])  # when the last count began
        self._child = 0
        self._said = -1
        self._began = 0.0
        self.bytes = 0  # on disk
        self.files = 0  # and folders
        self.memory = 0  # bytes in SysV segments, semaphores and messages

    @property
    def child(self) -> int:
        """The process of a count in progress, or 0."""
        return self._child

    def look(self, init: int = 0) -> bool:
        """Start a count, or see whether the last one is done. True: it is, and there are new numbers."""
        now = time.monotonic()
        if not self._child:
            if now >= self._next or (now >= self._soonest and self._may_be_over()):
                self._start(now, init)
            return False
        ended, _, used = os.wait4(self._child, os.WNOHANG)
        if not ended:
            return False
        self._child = 0
        text = os.pread(self._said, 1 << 22, 0).decode(errors="replace")
        self.close()
        # By the clock alone, a busy machine would count rarely. A slow disk works no more than half of the time.
        pause = max(20 * (used.ru_utime + used.ru_stime), now - self._began)
        self._next = now + max(self._every, min(pause, _LONGEST))
        self._soonest = now + max(0.5, now - self._began)
        kilobytes, _, rest = text.partition("files\n")
        files, _, rest = rest.partition("memory\n")
        memory, _, rest = rest.partition("sem\n")
        semaphores, _, messages = rest.partition("msg\n")
        self.bytes, self.files = 1024 * _sum(kilobytes, 0), _sum(files, 0)
        self.memory = segments(memory) + _SEMAPHORE * _sum(semaphores, _HELD) + _sum(messages, _HELD)
        return True

    def _may_be_over(self) -> bool:
        return self._limit is not None and self._free - _free(self._folders[0]) > self._limit - self.bytes

    def _start(self, now: float, init: int) -> None:
        self._free = _free(self._folders[0])
        entrance = None
        with contextlib.suppress(OSError):  # it has ended
            entrance = Entrance(init, "ipc") if init else None
        argv = ["sh", "-c", self._script, "sh", "/proc/sysvipc/shm" if entrance else "/dev/null", *self._folders]
        if entrance is not None:
            argv = [*entrance.argv, *argv]
            entrance.inherit()
        self._said = os.memfd_create("count", os.MFD_CLOEXEC)  # a pipe may be too small
        actions = [
            (os.POSIX_SPAWN_DUP2, self._said, 1),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        ]
        env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        try:
            self._child = os.posix_spawnp(argv[0], argv, env, file_actions=actions, setpgroup=0)
        finally:
            if entrance is not None:
                entrance.close()
        self._began = now

    def close(self) -> None:
        """Drop a count in progress."""
        if self._said >= 0:
            os.close(self._said)
        if self._child:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._child, 0)
        self._child, self._said = 0, -1


def segments(text: str) -> int:
    """Bytes in SysV segments, by /proc/sysvipc/shm."""
    return _sum(text, _RSS)


def _sum(text: str, column: int) -> int:
    rows = (line.split() for line in text.splitlines())
    return sum(int(row[column]) for row in rows if len(row) > column and row[column].isdigit())


def others_filled(folders: list[str], room: int, patience: float = 60.0) -> bool:
    """Is the disk full, and not because of this job? ``room`` bytes were free when it began."""
    if _free(folders[0]) > _FULL:
        return False
    count = Count(folders, 0.0)
    limit = time.monotonic() + patience
    while not (done := count.look()) and time.monotonic() < limit:
        time.sleep(0.02)
    count.close()
    return done and count.bytes + _FULL < room


def _free(folder: str) -> int:
    """Bytes; 0 if the disk is away."""
    try:
        there = os.statvfs(folder)
    except OSError:
        return 0
    return there.f_bavail * there.f_frsize


def cut(home: str, tmp: str, limit: int) -> None:
    """Delete what is in ``tmp``, and the largest files in ``home``, until the rest takes ``limit`` bytes.

    Only where room is short: to collect them takes as much again, and other jobs need some.
    """
    if _free(home) > 2 * _used(home):
        return
    _quietly("find", home, tmp, "-xdev", "-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    _quietly("find", tmp, "-xdev", "-mindepth", "1", "-delete")
    size = limit
    while size > 1 and _used(home) > limit:
        size //= 8
        _quietly("find", home, "-xdev", "-type", "f", "-size", f"+{size}c", "-delete")


def _used(home: str) -> int:
    return 1024 * _sum(_quietly("du", "-skx", "--", home), 0)


def _quietly(*argv: str) -> str:
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    return subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
