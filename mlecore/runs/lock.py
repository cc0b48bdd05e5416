"""One controller per group: the holder of controller.lock writes; others get an error that names it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlecore.errors import MlecoreError
from mlecore.util.locks import BEAT, Lock, is_held, read_holder

_NAME = "controller.lock"


class LockLost(MlecoreError):
    """The lock was removed or taken over while this process held it. It may write nothing more."""


class GroupLock(Lock):
    """The lock of a controller, which calls ``beat`` every few seconds."""

    def __init__(self, group: Path, say: Callable[[str], None] = lambda text: None) -> None:
        super().__init__(
            group / _NAME,
            "running it",
            fix=f"Wait for it, or stop that process; its runs go on. To see them: mlecore runs list {group.name}",
            say=say,
        )
        self._beats = 0
        self._is_named = False
        self._next_beat = 0.0

    def __enter__(self) -> GroupLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self, wait: Callable[[str], bool] | None = None) -> None:
        """As Lock.acquire, with a first heartbeat."""
        super().acquire(wait)
        self.beat(now=True)

    def beat(self, *, now: bool = False) -> None:
        """Write a heartbeat, at most every BEAT seconds. Raises LockLost if this process no longer has the lock."""
        if not now and time.monotonic() < self._next_beat:
            return
        self._next_beat = time.monotonic() + BEAT
        if not self.path.parent.is_dir():
            return  # the disk is unmounted: nobody else can take the lock there either
        if self._is_named and not (self.path.exists() and self.is_ours()):
            raise LockLost(
                f"{self.path} was removed or taken over by another controller: this one stops and writes nothing more",
                fix=f"Nothing is lost. To go on: mlecore runs resume {self.path.parent.name}",
            )
        self._beats += 1
        written = self._write_holder(beat=self._beats, at=time.strftime("%Y-%m-%dT%H:%M:%S%z"))
        self._is_named = self._is_named or written


def holder(group: Path) -> dict[str, Any] | None:
    """The current holder of the group, or None. May take the lock for a moment."""
    path = group / _NAME
    found = read_holder(path)
    if not found or not path.is_file() or path.is_symlink():
        return None
    try:
        return found if is_held(path) else None
    except PermissionError:  # another user's group: its holder may be alive or dead
        return found
    except OSError:
        return None
