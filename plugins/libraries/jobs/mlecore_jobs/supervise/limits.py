"""What is watched of a job while it runs, as far as nothing enforces it: memory, processes, disk, files."""

from __future__ import annotations

import os

from .disk import Count, segments
from .door import Guest
from .namespaces import is_whole
from .spec import JobSpec
from .watch import Memory, OpenFiles, Processes

DISK_EVERY = 5.0  # seconds between two counts of what it has written
FILE = 4096  # bytes that each file and folder counts as besides its blocks: millions of empty ones are a load, too


class WatchedLimits:
    """The limits of one job. ``in_cgroup``: the kernel holds it to its memory and processes."""

    def __init__(self, spec: JobSpec, in_cgroup: bool) -> None:
        self._spec = spec
        self._wrapped = spec.sandboxed
        self._memory_limit: int | None = None if in_cgroup else spec.memory
        watched = not self._wrapped or (spec.door and not in_cgroup)  # its processes, too
        self.often = self._memory_limit is not None or bool(watched)  # looked at several times a second
        self._count = Count(spec.written, DISK_EVERY, opens=bool(spec.door), limit=spec.disk)
        self.guest: Guest | None = None  # of a sandbox that nothing outside can enter
        self._memory: Memory | None = None
        self._open: OpenFiles | None = None

    @property
    def counting(self) -> int:
        """The child process that counts on the disk now, or 0."""
        return self._count.child

    def over(self, init: int) -> str:
        """Which limit the job is over: "memory", "processes", "disk", "files" or none. Never waits."""
        spec = self._spec
        counted = self._count.look(init if self._wrapped and not spec.door else 0)
        if self._open is None and not self._begin(init):
            return ""
        assert self._open and self._memory
        self._open.look()
        if self.often and (what := self._memory.over(self._open.memory + self._segments())):
            return what
        if self._count.bytes + self._count.files * FILE + self._open.disk > spec.disk:
            return "disk"
        return "files" if counted and spec.max_files and self._count.files > spec.max_files else ""

    def _begin(self, init: int) -> bool:
        """Once the sandbox is whole; until then its first process still sees the whole machine."""
        if self._wrapped and self.guest is None and (self._spec.door or not is_whole(init, self._spec.home_folder)):
            return False
        try:
            seen = Processes(init, self._wrapped, self.guest)
        except OSError:  # ended already
            return False
        self._memory = Memory(seen, self._memory_limit, self._spec.processes)
        self._open = OpenFiles(seen, self._spec.home_folder)
        return True

    def _segments(self) -> int:
        if self.guest is None:
            return self._count.memory
        return segments(os.pread(self.guest.segments, 1 << 20, 0).decode(errors="replace"))

    def close(self) -> None:
        """Drop a count in progress."""
        self._count.close()
