"""Finding and ending processes. A process is identified by its number and its start, as numbers are reused."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from .spec import JobSpec

MARK = "MLECORE_JOB"  # variable of a job without a PID namespace: its processes carry it in their environment


def boot_id() -> str:
    """An id that changes when the machine boots."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as source:  # noqa: PTH123
            return source.read().strip()
    except OSError:
        return ""


def stat_fields(pid: int | str) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (state) on; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as source:  # noqa: PTH123
            return source.read().rpartition(b")")[2].decode().split()
    except OSError:
        return None


def started(pid: int) -> str:
    """When a process began, in clock ticks since boot: with its number, this identifies it. Empty if it is gone."""
    fields = stat_fields(pid)
    return fields[19] if fields and fields[0] not in "ZX" else ""


def resident(pid: int) -> int:
    """Pages of memory that a process has."""
    fields = stat_fields(pid)
    return int(fields[21]) if fields else 0


def alive(pid: int, began: str) -> bool:
    return bool(began) and started(pid) == began


def send(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end(pid: int, began: str, seconds: float = 5.0) -> None:
    """SIGKILL, and wait until the process is gone."""
    limit = time.monotonic() + seconds
    while alive(pid, began) and time.monotonic() < limit:
        send(pid, signal.SIGKILL)
        time.sleep(0.01)


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def of_user(uid: int) -> int:
    """How many threads a user has on this machine."""
    count = 0
    for pid in pids():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == uid:  # noqa: PTH116
                count += len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208
    return count


def below(root: int) -> list[int]:
    """All descendants of a process."""
    parents: dict[int, list[int]] = {}
    for pid in pids():
        fields = stat_fields(pid)
        if fields and fields[0] not in "ZX":
            parents.setdefault(int(fields[1]), []).append(pid)
    out: list[int] = []
    todo = [root]
    while todo:
        children = parents.get(todo.pop(), [])
        out += children
        todo += children
    return out


def zombies(parent: int) -> list[int]:
    """Ended children of a process that were not waited for."""
    found = ((pid, stat_fields(pid)) for pid in pids())
    return [pid for pid, fields in found if fields and fields[0] == "Z" and fields[1] == str(parent)]


def marked(spec: JobSpec) -> list[int]:
    """Processes that carry a job's mark: in their environment, or, where it has a sandbox, in bubblewrap's arguments.

    bubblewrap's inner half waits for the outer one before it dies with it: killed in between, nothing else finds it.
    """
    if spec.sandboxed:
        file, wanted = "cmdline", {spec.sandbox[0].encode(), spec.home_folder.encode()}
    else:
        file, wanted = "environ", {f"{MARK}={spec.env[MARK]}".encode()}
    out = []
    for pid in pids():
        try:
            with open(f"/proc/{pid}/{file}", "rb") as source:  # noqa: PTH123
                if wanted <= set(source.read().split(b"\0")):
                    out.append(pid)
        except OSError:
            continue
    return [pid for pid in out if started(pid)]


def end_tree(spec: JobSpec, root: int | None, seconds: float = 5.0) -> None:
    """SIGKILL everything that descends from ``root`` or carries the job's mark, until nothing is left."""
    limit = time.monotonic() + seconds
    while True:
        left = {*marked(spec), *(below(root) if root else ())} - {os.getpid()}
        for pid in left:
            send(pid, signal.SIGKILL)
        if not left or time.monotonic() > limit:
            return
        time.sleep(0.01)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that none escapes without a PID namespace."""
    import ctypes

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def reap(own: set[int]) -> None:
    """Wait for adopted orphans that ended, and not for ``own`` children."""
    with contextlib.suppress(ChildProcessError):
        for pid in zombies(os.getpid()):
            if pid not in own:
                os.waitpid(pid, os.WNOHANG)
