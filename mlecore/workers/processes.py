"""What a worker process needs: a process group that is killed as one, limits that the kernel enforces."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import subprocess
import threading
from collections.abc import Iterator
from typing import IO, Any

ALONE: dict[str, Any] = {"start_new_session": True}  # and all that a plugin starts is one group

_GRACE = 30  # seconds after which the kernel ends work whose caller and watching thread both failed to


class Tree:
    """A process that was started with ``ALONE``, and all that it has started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._group = process.pid

    def kill(self) -> None:
        """Idempotent; only while the process has not been waited for, or right after."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is gone, or only zombies are left
            os.killpg(self._group, signal.SIGKILL)


def readable(stream: IO[bytes], seconds: float) -> bool:
    """Can ``stream`` be read without waiting, within so many seconds (math.inf: however long it takes)?"""
    poll = select.poll()  # not select(), which fails on descriptors above 1,023
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(None if seconds == math.inf else max(0.0, seconds) * 1000))


def end_with_caller() -> None:
    """Kill this process's group once nobody can write to standard input any more."""

    def watch() -> None:
        poll = select.poll()
        poll.register(0, 0)  # not for reading: only for the other end being closed
        poll.poll()
        os.killpg(os.getpgid(0), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def limits(memory_gb: float | None, seconds: float | None) -> Iterator[None]:
    """Limit the data of this process (as RLIMIT_DATA counts, in GiB; for good), and the time that the work takes.

    The caller enforces the time; a regular expression, say, keeps the watching thread from running when it is gone.
    """
    if memory_gb:
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory_gb * 2**30),) * 2)
    if seconds:
        signal.alarm(math.ceil(seconds) + _GRACE)
    try:
        yield
    finally:
        signal.alarm(0)
