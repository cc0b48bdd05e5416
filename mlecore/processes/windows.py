"""Windows: a job object holds a process and all that it starts, and ends them when its last handle is closed.

The caller has the only handle, so that no worker outlives it. There are no limits of memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO, Any

assert sys.platform == "win32"

ALONE: dict[str, Any] = {"creationflags": 0x200}  # CREATE_NEW_PROCESS_GROUP

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_KILL_ON_CLOSE = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
_KILLED = 137  # exit code of what ``Tree.kill`` ends
_FIRST, _LONGEST = 0.001, 0.05  # seconds between two looks at a pipe, which Windows cannot wait for


class _ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; only the flags are used."""

    _fields_ = (
        ("times", ctypes.c_int64 * 2),
        ("flags", ctypes.c_uint32),
        ("working_set", ctypes.c_size_t * 2),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("classes", ctypes.c_uint32 * 2),
        ("io", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


class Tree:
    """A process that was started with ``ALONE``, and all that it starts from now on."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        from ctypes import wintypes

        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        self._kernel.CreateJobObjectW.restype = wintypes.HANDLE
        self._job = wintypes.HANDLE(self._kernel.CreateJobObjectW(None, None))
        limits = _ExtendedLimits(flags=_KILL_ON_CLOSE)
        size, handle = ctypes.sizeof(limits), wintypes.HANDLE(int(process._handle))  # type: ignore[attr-defined]
        if not (
            self._kernel.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
            and self._kernel.AssignProcessToJobObject(self._job, handle)
        ):
            process.kill()
            raise ctypes.WinError(ctypes.get_last_error())

    def kill(self) -> None:
        """Idempotent."""
        self._kernel.TerminateJobObject(self._job, _KILLED)

    def __del__(self) -> None:
        self._kernel.CloseHandle(self._job)


def readable(stream: IO[bytes], seconds: float) -> bool:
    """Can ``stream`` be read without waiting, within so many seconds (math.inf: however long it takes)?"""
    import _winapi
    import msvcrt

    pipe = msvcrt.get_osfhandle(stream.fileno())
    deadline, pause = time.monotonic() + seconds, _FIRST
    while True:
        try:
            if _winapi.PeekNamedPipe(pipe, 0)[0]:
                return True
        except BrokenPipeError:  # its end can be read
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def end_with_caller() -> None:
    """The job object sees to it."""


@contextlib.contextmanager
def limits(memory_gb: float | None, seconds: float | None) -> Iterator[None]:
    """The caller enforces the time; nothing limits memory."""
    yield
