"""A cgroup (v2) for one job, where this process may make one; nothing is taken from groups that others manage.

That is the process's own group or one above it that is writable and passes on the memory and pids controllers:
a container with its own hierarchy, a unit or scope with ``Delegate=yes``, the root of a machine.
"""

from __future__ import annotations

import contextlib
import os

NEEDED = ("memory", "pids")
CPU_PERIOD = 100_000  # microseconds


def mount_point(mounts: str = "/proc/self/mounts") -> str | None:
    """Where cgroup v2 is mounted."""
    try:
        with open(mounts) as source:  # noqa: PTH123
            rows = [line.split() for line in source]
    except OSError:
        return None
    return next((row[1] for row in rows if row[2] == "cgroup2"), None)


def _own() -> str:
    with open("/proc/self/cgroup") as source:  # noqa: PTH123
        return next((line[3:].strip() for line in source if line.startswith("0::")), "/")


def _read(path: str) -> str:
    with open(path) as source:  # noqa: PTH123
        return source.read()


def _write(path: str, text: str) -> None:
    with open(path, "w") as out:  # noqa: PTH123
        out.write(text)


def parent(root: str | None = None, own: str | None = None) -> str | None:
    """The group below which jobs can have theirs; None if there is none."""
    root = root or mount_point()
    if root is None:
        return None
    path = os.path.normpath(root + "/" + (own if own is not None else _own()))
    while path.startswith(root):
        if os.access(path, os.W_OK) and _passes_on(path):
            return path
        path = os.path.dirname(path)  # noqa: PTH120
    return None


def _passes_on(path: str) -> bool:
    try:
        if set(NEEDED) <= set(_read(f"{path}/cgroup.subtree_control").split()):
            return True
        there = _read(f"{path}/cgroup.controllers").split()
        if not set(NEEDED) <= set(there):
            return False
        _write(f"{path}/cgroup.subtree_control", " ".join(f"+{name}" for name in ("cpu", *NEEDED) if name in there))
    except OSError:  # for example, a group with processes in it cannot have groups below it
        return False
    return True


class Group:
    """One job's group."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def make(cls, above: str, name: str, memory: int | None, cpus: float | None, processes: int) -> Group | None:
        """With its limits; None if something stands in the way, and then nothing is left."""
        group = cls(f"{above}/mlecore-{name}")
        try:
            os.makedirs(group.path, exist_ok=True)  # noqa: PTH103
            _write(f"{group.path}/pids.max", str(processes))
            if memory is not None:
                _write(f"{group.path}/memory.max", str(memory))
                if os.path.exists(f"{group.path}/memory.swap.max"):  # noqa: PTH110
                    _write(f"{group.path}/memory.swap.max", "0")
            if cpus is not None and os.path.exists(f"{group.path}/cpu.max"):  # noqa: PTH110
                _write(f"{group.path}/cpu.max", f"{max(1000, round(cpus * CPU_PERIOD))} {CPU_PERIOD}")
        except OSError:
            group.remove()
            return None
        return group

    def enter(self) -> None:
        """Move the calling process into it."""
        _write(f"{self.path}/cgroup.procs", str(os.getpid()))

    def oom_kills(self) -> int:
        """How many processes the kernel has killed because the group was out of memory."""
        with contextlib.suppress(OSError):
            for line in _read(f"{self.path}/memory.events").splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """End what is in it, and the group itself; idempotent."""
        import time

        for _ in range(200):
            with contextlib.suppress(OSError):
                _write(f"{self.path}/cgroup.kill", "1")
            try:
                os.rmdir(self.path)  # noqa: PTH106
            except (FileNotFoundError, NotADirectoryError):
                return
            except OSError:
                time.sleep(0.01)
            else:
                return
