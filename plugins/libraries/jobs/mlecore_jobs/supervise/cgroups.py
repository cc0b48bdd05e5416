"""A cgroup (v2) for one job, if this process may make one; groups that others manage are not used.

That is below the process's own group or one above it that is writable and can pass on the memory and pids controllers:
one whose manager has done so already, a unit or scope of systemd with ``Delegate=yes``, a container's own root, the
root of a machine. A group with processes in it cannot pass controllers on; where it is ours (a delegated one, a
container's root), its processes move one group down.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache

NEEDED = ("memory", "pids")
CPU_PERIOD = 100_000  # microseconds
OURS = "mlecore"  # the group below a delegated one into which its processes move


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


@cache
def usable() -> tuple[str, tuple[str, ...]] | None:
    """The group below which jobs get theirs, and the controllers that hold them there; found out by making one."""
    path = parent()
    if path is None:
        return None
    try:
        group = Group.make(path, f"trial-{os.getpid()}", 1 << 30, 1.0, 16)
        held = _read(f"{group.path}/cgroup.controllers").split()
        group.remove()
    except OSError:
        return None
    return path, tuple(held)


def advice() -> str:
    """How to have limits enforced on this machine, where ``usable`` finds no way."""
    if mount_point() is None or not set(NEEDED) <= set(_offered()):
        return "Boot with cgroup v2 only (systemd.unified_cgroup_hierarchy=1, the default of today's distributions)."
    user = "" if os.geteuid() == 0 else "--user "
    return f"Start it as: systemd-run {user}--scope -p Delegate=yes mlecore ..."


def _offered() -> list[str]:
    """The controllers that the machine's v2 hierarchy has; the others belong to v1."""
    try:
        return _read(f"{mount_point()}/cgroup.controllers").split()
    except OSError:
        return []


def parent(root: str | None = None, own: str | None = None) -> str | None:
    """The nearest group below which jobs could have theirs; None if there is none. Changes nothing."""
    root = root or mount_point()
    if root is None:
        return None
    path = os.path.normpath(root + "/" + (own if own is not None else _own()))
    while path == root or path.startswith(root + "/"):
        if _writable(path) and _can_pass_on(path, path == root):
            return path
        path = os.path.dirname(path)  # noqa: PTH120
    return None


def _writable(path: str) -> bool:
    """May processes be moved to groups below it?"""
    names = ("", "/cgroup.procs", "/cgroup.subtree_control")
    return all(os.access(path + name, os.W_OK) for name in names)


def _can_pass_on(path: str, top: bool) -> bool:
    try:
        if set(NEEDED) <= set(_read(f"{path}/cgroup.subtree_control").split()):
            return True
        if not set(NEEDED) <= set(_read(f"{path}/cgroup.controllers").split()):
            return False
        return _takes_processes(path) or top or _delegated(path) or not _read(f"{path}/cgroup.procs").split()
    except OSError:
        return False


def _takes_processes(path: str) -> bool:
    """Only the root of the machine, which has no type, has processes and passes controllers on."""
    return not os.path.exists(f"{path}/cgroup.type")  # noqa: PTH110


def _delegated(path: str) -> bool:
    """Has systemd handed it to us?"""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(path, name) == b"1":
                return True
    return False


def _pass_on(path: str) -> None:
    """Let groups below have the controllers. Raises OSError."""
    there = _read(f"{path}/cgroup.controllers").split()
    wanted = [name for name in ("cpu", *NEEDED) if name in there]
    if set(wanted) <= set(_read(f"{path}/cgroup.subtree_control").split()):
        return
    if not _takes_processes(path):
        _move_down(path)
    _write(f"{path}/cgroup.subtree_control", " ".join(f"+{name}" for name in wanted))


def _move_down(path: str) -> None:
    """All processes of a group into one below it; what they start meanwhile, too."""
    for _ in range(20):
        pids = _read(f"{path}/cgroup.procs").split()
        if not pids:
            return
        os.makedirs(f"{path}/{OURS}", exist_ok=True)  # noqa: PTH103
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                _write(f"{path}/{OURS}/cgroup.procs", pid)


class Kills:
    """Processes of a group that the kernel killed for want of memory."""

    def __init__(self, by_limit: int = 0, by_machine: int = 0) -> None:
        self.by_limit = by_limit  # the group was at its limit
        self.by_machine = by_machine  # it was not: the machine as a whole was short of memory


class Group:
    """One job's group."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def make(cls, above: str, name: str, memory: int | None, cpus: float | None, processes: int) -> Group:
        """With its limits. Raises OSError if something stands in the way, and then nothing is left."""
        group = cls(f"{above}/mlecore-{name}")
        try:
            _pass_on(above)
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
            raise
        return group

    def enter(self) -> None:
        """Move the calling process into it."""
        _write(f"{self.path}/cgroup.procs", str(os.getpid()))

    def kills(self) -> Kills:
        """Its own counters: what the kernel kills elsewhere is none of its business."""
        try:
            rows = [line.split() for line in _read(f"{self.path}/memory.events").splitlines()]
        except OSError:
            return Kills()
        counts = {row[0]: int(row[1]) for row in rows if len(row) == 2}
        killed = counts.get("oom_kill", 0)
        return Kills(by_limit=killed) if counts.get("oom", 0) else Kills(by_machine=killed)

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
