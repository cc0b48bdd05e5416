"""Before an agent's first process begins: a filter of system calls, and a first process that the agent cannot touch.

For sandboxes made by others (pods of a cluster, Apptainer), from inside. Their own filters may be older, and let a
process trace, limit and write to others of its user. Init is one, and keeps the time. Python 3.8, as in images.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from typing import NoReturn

from mlecore_jobs import seccomp

NO_NEW_PRIVILEGES, SET_FILTER, BY_PROGRAM = 38, 22, 2  # of prctl
# Where memory is short the kernel is to take the agent. Init's children cannot say so: their /proc/self is root's.
_AGENT = '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"'


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def confine(shell: str, init: str, *argv: str) -> NoReturn:
    """Become ``shell init argv``. Raises OSError where the machine takes no filter, or a copy cannot be run."""
    copy = _unreadable(shell)
    if not filter_calls():
        raise OSError("there is no filter for this machine")
    os.execve(copy, [shell, init, shell, "-c", _AGENT, "start", *argv], os.environ)


def filter_calls() -> bool:
    """From now on, in this process and all that it starts. False where there is no filter for this machine."""
    program = seccomp.here()
    if program is None:
        return False
    filter_ = _Program(len(program) // 8, program)
    _prctl(NO_NEW_PRIVILEGES, 1, 0)
    _prctl(SET_FILTER, BY_PROGRAM, ctypes.addressof(filter_))
    return True


def _unreadable(path: str) -> int:
    """A copy that nobody may read, open: the kernel keeps everyone out of the memory of a process that runs it."""
    if sys.platform != "linux":
        raise OSError("sandboxes are on Linux")
    with tempfile.NamedTemporaryFile() as copy:
        with open(path, "rb") as source:  # noqa: PTH123
            shutil.copyfileobj(source, copy)
        os.fchmod(copy.fileno(), 0o111)
        copy.file.close()  # a file that is open for writing cannot be run
        return os.open(copy.name, os.O_PATH | os.O_CLOEXEC)


def _prctl(option: int, first: int, second: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    values: Sequence[ctypes.c_ulong] = [ctypes.c_ulong(value) for value in (first, second, 0, 0)]
    if libc.prctl(option, *values):
        raise OSError(ctypes.get_errno(), "prctl")
