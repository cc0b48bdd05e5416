"""How a job ended, and whose doing that was, from what its supervisor saw."""

from __future__ import annotations

import os
import stat
from typing import Any

from .cgroups import Kills
from .disk import others_filled
from .files import OUTPUT
from .spec import JobSpec

INIT_KILLED = 137  # as in mlecore/model/backends.py, which is not imported here
TIME_UP = 124  # init's exit code


class End:
    """What was seen of a job that is over."""

    def __init__(self, spec: JobSpec, folder: str) -> None:
        self.spec = spec
        self.folder = folder
        self.code = 0  # of init, or of bubblewrap where init's is not known
        self.whole = True  # init's is known; else the sandbox was not made, or was killed
        self.killed = ""  # why the supervisor killed it: "time", "memory", "processes", "disk", "files", "stopped", ...
        self.late = False  # it worked beyond its time
        self.memory_kills = 0  # processes that the supervisor killed for their memory
        self.kills = Kills()  # processes that the kernel killed in the job's cgroup
        self.short_of_memory = False  # the machine was, just before the end: its kernel killed processes
        self.error = ""  # why the sandbox could not be connected to its network
        self.terminated = False  # the supervisor was asked to end
        self.stopped = False  # the backend was asked to end the job


def outcome(end: End) -> dict[str, Any]:
    """The part of the job's state that says how it ended, see JobStatus."""
    code = INIT_KILLED if end.killed else end.code
    out: dict[str, Any] = {"exit_code": code, "oom": False, "infra_failure": False, "reason": "", "timed_out": False}
    out.update(_why(end))
    return out


def _why(end: End) -> dict[str, Any]:
    spec, code = end.spec, end.code
    ended_badly = code not in (0, TIME_UP) and not end.killed
    short = end.short_of_memory or end.kills.by_limit or end.kills.by_machine
    if code == INIT_KILLED and spec.sandboxed and short and not end.killed:
        # The kernel takes everything of an agent before init, unless an agent has worked against that.
        return {"oom": True, "reason": "the machine ran out of memory, and its kernel killed the job's first process"}
    if ended_badly and end.kills.by_machine:
        words = "the machine ran out of memory and its kernel killed processes of the job"
        return {"oom": spec.memory is None, "infra_failure": spec.memory is not None, "reason": words}
    if ended_badly and (end.memory_kills or end.kills.by_limit):
        limit = f"its {spec.memory} bytes" if spec.memory is not None else "there was"
        return {"oom": True, "reason": f"used more than {limit} of memory"}
    if end.killed == "processes":
        return {"reason": f"had more than its {spec.processes} processes"}
    if end.killed == "disk":
        return {"reason": f"wrote more than its {spec.disk} bytes"}
    if end.killed == "files":
        return {"reason": f"made more than its {spec.max_files} files"}
    if end.killed == "no network":
        return _infrastructure(end.error)
    if end.terminated:
        return _infrastructure("its supervisor was terminated (is the machine shutting down?)")
    if end.killed == "stopped":
        return {"reason": "stopped, and killed when the grace was over"}
    if end.killed:
        return {"timed_out": True, "reason": "the time limit passed and init did not end the job"}
    if end.stopped:
        return {"reason": "stopped"}
    if not end.whole:
        return _infrastructure(f"the sandbox could not be made or was killed: {_last_words(end.folder)}")
    if end.late and code != TIME_UP:
        return {"timed_out": True, "reason": "it worked beyond its time limit, which init did not notice"}
    if code == INIT_KILLED and spec.sandboxed:  # nothing inside can do that, see mlecore/model/backends.py
        return _infrastructure("its first process was killed from outside the sandbox")
    if (code or not report(spec)) and others_filled(spec.written, spec.free_disk):
        return _infrastructure("the disk is full, though this job wrote less than was free when it began")
    return {}


def _infrastructure(reason: str) -> dict[str, Any]:
    return {"infra_failure": True, "reason": reason}


def report(spec: JobSpec) -> bytes:
    """What init wrote at its end, as far as the agent let it: only the beginning of a regular file is read."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(f"{spec.home_folder}/.mlecore/exit.json", flags)
    except OSError:
        return b""
    try:
        return os.read(file, 4096) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)


def _last_words(folder: str) -> str:
    try:
        with open(f"{folder}/{OUTPUT}", "rb") as source:  # noqa: PTH123
            source.seek(max(0, source.seek(0, os.SEEK_END) - 400))
            return source.read().decode(errors="replace").strip() or "it said nothing"
    except OSError:
        return "it said nothing"
