"""Before an agent's first process begins: a filter of system calls, and a first process that the agent cannot touch.

Nodes have profiles of their own, older ones of which let io_uring and AF_VSOCK through, and all of which let a process
trace, limit and write to others of its user. Init is one, and keeps the time.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import NoReturn

from mlecore.sandbox import seccomp

NO_NEW_PRIVILEGES, SET_FILTER, BY_PROGRAM = 38, 22, 2  # of prctl
# Where memory is short the kernel is to take the agent. Init's children cannot say so: their /proc/self is root's.
_AGENT = '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"'


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def confine(shell: str, init: str, *argv: str) -> NoReturn:
    """Become ``shell init argv``. Raises OSError where the machine takes no filter, or a copy cannot be run."""
    program = seccomp.here()
    if program is None:
        raise OSError("there is no filter for this machine")
    filter_ = _Program(len(program) // 8, program)
    copy = _unreadable(shell)
    _prctl(NO_NEW_PRIVILEGES, 1, 0)
    _prctl(SET_FILTER, BY_PROGRAM, ctypes.addressof(filter_))
    os.execve(copy, [shell, init, shell, "-c", _AGENT, "start", *argv], os.environ)


def _unreadable(path: str) -> int:
    """A copy that nobody may read, open: the kernel keeps everyone out of the memory of a process that runs it."""
    with tempfile.NamedTemporaryFile() as copy:
        with open(path, "rb") as source:
            shutil.copyfileobj(source, copy)
        os.fchmod(copy.fileno(), 0o111)
        copy.file.close()  # a file that is open for writing cannot be run
        return os.open(copy.name, os.O_PATH | os.O_CLOEXEC)


def _prctl(option: int, first: int, second: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    values: Sequence[ctypes.c_ulong] = [ctypes.c_ulong(value) for value in (first, second, 0, 0)]
    if libc.prctl(option, *values):
        raise OSError(ctypes.get_errno(), "prctl")
