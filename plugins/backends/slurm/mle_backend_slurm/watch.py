"""What Slurm says of this user's jobs: one squeue for all of them, as rarely as it may be, and one sacct if need be."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection

from mle_backend_slurm.commands import Seen, Slurm
from mlecore.errors import BackendError, BackendUnreachable

_SLOWEST = 4.0  # times the interval, after a while without a change
_GROWTH = 1.5


class Watch:
    """The queue as it was last seen. Thread-safe."""

    def __init__(self, slurm: Slurm, interval: float) -> None:
        self._slurm = slurm
        self._first = self._interval = interval
        self._lock = threading.Lock()
        self._due = 0.0
        self.looks = 0  # answers of squeue so far
        self.tasks: dict[str, Seen] = {}
        self.names: dict[str, str] = {}  # job name -> array id
        self.error: BackendError | None = None  # why the last call failed
        self.accounting: BackendError | None = None

    def hurry(self) -> None:
        """Something changes: look after the shortest interval."""
        with self._lock:
            self._interval = self._first
            self._due = min(self._due, time.monotonic() + self._first)

    def look(self, wanted: Collection[str]) -> None:
        """Ask Slurm if it is time; ``wanted`` are the tasks whose state somebody needs."""
        with self._lock:
            if time.monotonic() < self._due:
                return
            try:
                tasks, names = self._slurm.queue()
                self.error = None
            except BackendError as error:
                self.error = error
                self._wait(changed=False)
                return
            forgotten = [id for id in wanted if id not in tasks]
            if forgotten:
                try:
                    tasks |= self._slurm.history(forgotten)
                    self.accounting = None
                except BackendError as error:
                    self.accounting = error
            self._wait(changed=tasks != self.tasks)
            self.tasks, self.names = tasks, names
            self.looks += 1

    def _wait(self, *, changed: bool) -> None:
        self._interval = self._first if changed else min(self._interval * _GROWTH, self._first * _SLOWEST)
        self._due = time.monotonic() + self._interval

    def knows_all(self) -> bool:
        """Is a task that is not in ``tasks`` surely over? Not while accounting is away, which may know it."""
        return self.error is None and not isinstance(self.accounting, BackendUnreachable)
