"""What a job uses, measured from outside: memory where no cgroup counts it, disk in any case."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from .processes import below, send

_FULL = 1 << 20  # bytes: with fewer left, a disk is full


class Processes:
    """The processes of a sandbox as its own /proc lists them; without one, those that descend from ``root``."""

    def __init__(self, root: int, namespaced: bool) -> None:
        self._root = root
        self._folder = os.open(f"/proc/{root}/root/proc" if namespaced else "/proc", os.O_RDONLY | os.O_CLOEXEC)
        self._namespaced = namespaced
        self._view = f"/proc/{root}/root" if namespaced else ""

    def names(self) -> list[str]:
        if self._namespaced:
            return [name for name in os.listdir(self._folder) if name.isdigit()]  # noqa: PTH208
        return [str(pid) for pid in (self._root, *below(self._root))]

    def read(self, path: str) -> bytes:
        """A file of /proc; empty if its process is gone."""
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        except OSError:
            return b""
        try:
            return os.read(file, 1 << 16)
        except OSError:
            return b""
        finally:
            os.close(file)

    def shared_memory(self) -> int:
        """Bytes that lie in the sandbox's own /dev/shm."""
        if not self._namespaced:
            return 0
        try:
            there = os.statvfs(f"{self._view}/dev/shm")
        except OSError:
            return 0
        return (there.f_blocks - there.f_bfree) * there.f_frsize


def _kilobytes(text: bytes, *names: bytes) -> int:
    rows = (line.split() for line in text.splitlines() if line.endswith(b"kB"))
    return sum(int(row[1]) for row in rows if row[0].rstrip(b":") in names)


class Memory:
    """Is a job over its limit? Cheap first (pages shared after a fork count for each), exact where that says yes."""

    def __init__(self, processes: Processes, limit: int | None, most: int) -> None:
        self._processes = processes
        self._limit = limit
        self._most = most
        self._exact_at = 0.0

    def over(self) -> str:
        """What is over its limit: "memory", "processes" or nothing."""
        names = self._processes.names()
        if len(names) > self._most + 1:  # init is one of them
            return "processes"
        if self._limit is None:
            return ""
        private = shared = 0
        for name in names:
            status = self._processes.read(f"{name}/status")
            private += _kilobytes(status, b"RssAnon")
            shared += _kilobytes(status, b"RssShmem")
        files = self._processes.shared_memory()
        if private * 1024 + max(shared * 1024, files) <= self._limit:
            return ""
        began = time.monotonic()
        if began < self._exact_at:
            return ""
        private = shared = 0
        for name in names:
            rollup = self._processes.read(f"{name}/smaps_rollup")
            private += _kilobytes(rollup, b"Pss_Anon")
            shared += _kilobytes(rollup, b"Pss_Shmem")
        self._exact_at = time.monotonic() + 5 * (time.monotonic() - began)
        return "memory" if private * 1024 + max(shared * 1024, files) > self._limit else ""


class Disk:
    """Bytes on disk below some folders, counted by ``du`` beside the supervisor (a tree may be deep and hostile)."""

    def __init__(self, folders: list[str], limit: int, every: float) -> None:
        self._argv = ["du", "-skx", "--", *folders]
        self._limit = limit
        self._every = every
        self._next = time.monotonic() + min(every, 1.0)
        self._child = 0
        self._pipe = -1
        self._began = 0.0

    def over(self) -> bool:
        """Never waits: starts a count or looks whether the last one is done."""
        count = self.count()
        return count is not None and count > self._limit

    def count(self) -> int | None:
        """Bytes, each time that a count is done."""
        now = time.monotonic()
        if not self._child:
            if now >= self._next:
                self._start(now)
            return None
        with contextlib.suppress(ChildProcessError):  # waited for already, among adopted orphans
            if not os.waitpid(self._child, os.WNOHANG)[0]:
                return None
        self._child = 0
        text = os.read(self._pipe, 1 << 16)
        self.close()
        self._next = now + max(self._every, 20 * (now - self._began))
        rows = [line.split()[0] for line in text.splitlines() if line.split()]
        return sum(int(row) for row in rows if row.isdigit()) * 1024

    def _start(self, now: float) -> None:
        self._pipe, out = os.pipe2(os.O_CLOEXEC)
        actions = [
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        ]
        try:
            self._child = os.posix_spawnp("du", self._argv, {"PATH": os.defpath, "LC_ALL": "C"}, file_actions=actions)
        finally:
            os.close(out)
        self._began = now

    def close(self) -> None:
        """Forget a count that is under way."""
        if self._pipe >= 0:
            os.close(self._pipe)
        if self._child and send(self._child, signal.SIGKILL):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._child, 0)
        self._child, self._pipe = 0, -1


def others_filled(folders: list[str], room: int, patience: float = 60.0) -> bool:
    """Is the disk full, and not by a job that has ended? ``room`` bytes were free on it when that began."""
    there = os.statvfs(folders[0])
    if there.f_bavail * there.f_frsize > _FULL:
        return False
    disk = Disk(folders, room, 0.0)
    limit = time.monotonic() + patience
    while (count := disk.count()) is None and time.monotonic() < limit:
        time.sleep(0.02)
    disk.close()
    return count is not None and count + _FULL < room
