"""How much memory a job uses, and how many processes, seen from outside where no cgroup counts them."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator

from .door import Guest
from .processes import below

_OPEN_FILES_EVERY = 1.0  # seconds
_INODE = 1024  # bytes of a file in memory besides its content, as the kernel reckons
_PRIVATE = (b"RssAnon", b"VmSwap", b"VmPTE")  # the last: tables for pages, even of a hole that was only read
_MAPS = 1 << 22  # bytes of a process's list of mappings that are looked through


class Processes:
    """The processes of a sandbox by its own /proc; without a sandbox, those that descend from ``root``."""

    def __init__(self, root: int, namespaced: bool, guest: Guest | None = None) -> None:
        """``guest`` has handed out what this would otherwise open. Raises OSError if ``root`` has ended."""
        self._root = root
        self._namespaced = namespaced
        if guest is not None:
            self._folder, self._shm = guest.proc, guest.shm
        elif namespaced:
            self._folder, self._shm = _open(f"/proc/{root}/root/proc"), _open(f"/proc/{root}/root/dev/shm")
        else:
            self._folder, self._shm = _open("/proc"), -1

    def names(self) -> list[str]:
        if self._namespaced:
            return [name for name in os.listdir(self._folder) if name.isdigit()]  # noqa: PTH208
        return [str(pid) for pid in (self._root, *below(self._root))]

    def read(self, path: str, most: int = 1 << 16) -> bytes:
        """A file of /proc; empty if its process is gone. At most so many bytes of it."""
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        except OSError:
            return b""
        parts: list[bytes] = []
        try:
            while most > 0 and (part := os.read(file, min(most, 1 << 16))):  # some come in pages
                parts.append(part)
                most -= len(part)
        except OSError:
            return b""
        finally:
            os.close(file)
        return b"".join(parts)

    def open_files(self) -> Iterator[tuple[str, os.stat_result]]:
        """What each process has open that is a file without a name: where it was, and its state; each file once."""
        seen = set()
        for name in self.names():
            try:
                descriptors = os.open(f"{name}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folder)
            except OSError:
                continue
            try:
                for number in os.listdir(descriptors):  # noqa: PTH208
                    try:
                        state = os.stat(number, dir_fd=descriptors)
                        key = state.st_dev, state.st_ino
                        if stat.S_ISREG(state.st_mode) and not state.st_nlink and key not in seen:
                            seen.add(key)
                            yield os.readlink(number, dir_fd=descriptors), state
                    except OSError:  # closed meanwhile
                        continue
            except OSError:
                continue
            finally:
                os.close(descriptors)

    def mapped_files(self) -> Iterator[tuple[tuple[int, int], int]]:
        """What each process has mapped of files without a name: (disk, number), and how many bytes."""
        for name in self.names():
            for line in self.read(f"{name}/maps", _MAPS).splitlines():
                fields = line.split(maxsplit=5)
                if len(fields) == 6 and fields[5].endswith(b"(deleted)"):
                    begin, _, end = fields[0].partition(b"-")
                    major, _, minor = fields[3].partition(b":")
                    yield (os.makedev(int(major, 16), int(minor, 16)), int(fields[4])), int(end, 16) - int(begin, 16)

    def shared_memory(self) -> int:
        """Bytes in the sandbox's own /dev/shm, and what the kernel takes for its files, empty ones too."""
        if self._shm < 0:
            return 0
        there = os.statvfs(self._shm)
        return (there.f_blocks - there.f_bfree) * there.f_frsize + (there.f_files - there.f_ffree) * _INODE


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def oom_kills() -> int:
    """Processes that the kernel has ended so far for want of memory, on the whole machine."""
    try:
        with open("/proc/vmstat") as source:  # noqa: PTH123
            return next((int(line.split()[1]) for line in source if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def _kilobytes(text: bytes, *names: bytes) -> int:
    rows = (line.split() for line in text.splitlines() if line.endswith(b"kB"))
    return sum(int(row[1]) for row in rows if row[0].rstrip(b":") in names)


class OpenFiles:
    """Bytes in files without a name, which no folder shows: in memory (memfd), and on the disk of ``folder``.

    A file that is mapped but no longer open counts with its largest mapping: its real size cannot be seen.
    """

    def __init__(self, processes: Processes, folder: str) -> None:
        self._processes = processes
        self._disk = os.stat(folder).st_dev  # noqa: PTH116
        self._next = 0.0
        self.memory = 0
        self.disk = 0

    def look(self) -> None:
        """Count again where it is time: it must not cost more than a twentieth of a CPU."""
        if time.monotonic() < self._next:
            return
        before = time.process_time()  # the clock would count other programs on a busy machine
        memory = disk = 0
        seen = set()
        for path, state in self._processes.open_files():
            seen.add((state.st_dev, state.st_ino))
            if path.startswith("/memfd:"):
                memory += state.st_blocks * 512
            elif state.st_dev == self._disk:
                disk += state.st_blocks * 512
        mapped: dict[tuple[int, int], int] = {}
        for file, size in self._processes.mapped_files():
            if file[0] == self._disk and file not in seen:
                mapped[file] = max(mapped.get(file, 0), size)
        disk += sum(mapped.values())
        self.memory, self.disk = memory, disk
        self._next = time.monotonic() + max(_OPEN_FILES_EVERY, 20 * (time.process_time() - before))


class Memory:
    """Is a job over its limit? A cheap count first (shared pages count for each process), an exact one if it says yes.

    Shared memory is counted twice: as what processes have mapped, and as what lies in files and segments, which need
    not be mapped. As most of both is the same, the larger counts.
    """

    def __init__(self, processes: Processes, limit: int | None, most: int) -> None:
        self._processes = processes
        self._limit = limit
        self._most = most
        self._exact_at = 0.0

    def over(self, unmapped: int) -> str:
        """What is over its limit: "memory", "processes" or nothing. ``unmapped``: bytes in memfd and SysV segments."""
        names = self._processes.names()
        if len(names) > self._most + 1:  # init is one of them
            return "processes"
        if self._limit is None:
            return ""
        private = shared = 0
        for name in names:
            status = self._processes.read(f"{name}/status")
            private += _kilobytes(status, *_PRIVATE)
            shared += _kilobytes(status, b"RssShmem")
        files = self._processes.shared_memory() + unmapped
        if private * 1024 + max(shared * 1024, files) <= self._limit:
            return ""
        began = time.monotonic()
        if began < self._exact_at:
            return ""
        private = shared = 0
        for name in names:
            status, rollup = self._processes.read(f"{name}/status"), self._processes.read(f"{name}/smaps_rollup")
            if rollup:
                private += _kilobytes(rollup, b"Pss_Anon", b"SwapPss") + _kilobytes(status, b"VmPTE")
                shared += _kilobytes(rollup, b"Pss_Shmem")
            else:  # it has ended, or hides
                private += _kilobytes(status, *_PRIVATE)
                shared += _kilobytes(status, b"RssShmem")
        self._exact_at = time.monotonic() + 5 * (time.monotonic() - began)
        return "memory" if private * 1024 + max(shared * 1024, files) > self._limit else ""
