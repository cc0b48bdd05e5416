"""Passing the events of a group to extensions: each event at least once and in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mlecore.errors import DataError, MlecoreError
from mlecore.model.record import RunRecord
from mlecore.runs.journal import Journal
from mlecore.util import files
from mlecore.util.regular import read_regular

if TYPE_CHECKING:
    from pluggy import PluginManager

    from mlecore.model.findings import Findings
    from mlecore.model.report import Report

DELIVERED = "extensions.log"
Event = Literal["run_started", "run_finished", "run_graded", "run_judged"]  # hooks
_MOST = 1 << 28  # bytes that are read; 10,000 runs write about 2 MB


class Extensions:
    """Calls extensions from a separate thread: a slow or failing one delays no run.

    An event is noted in the group's extensions.log after its delivery, so that one that is lost with the controller is
    delivered when the group is resumed.
    """

    def __init__(self, group: Path, journal: Journal, manager: PluginManager | None) -> None:
        self._path = group / DELIVERED
        self._journal = journal
        self._manager = manager
        self._active = manager is not None and any(True for _ in manager.list_name_plugin())
        self._queue: queue.SimpleQueue[tuple[Event, str, dict[str, Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._put_count = self._served = 0  # events; the latter is the thread's
        self._delivered = self._read() if self._active else set()

    def _read(self) -> set[str]:
        try:
            content = read_regular(self._path, _MOST, below=self._path.parent)
        except (OSError, DataError):  # then they are delivered once more
            return set()
        lines = content.decode(errors="replace").split("\n")
        return set(lines[:-1])  # what follows the last newline is incomplete or empty

    def put(self, event: Event, run: RunRecord, **about: Any) -> None:
        """Deliver an event, unless that was done. ``about``: the other arguments of its hook. For any thread."""
        key = _key(event, run, about.get("findings"))
        if not self._active or key in self._delivered:
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="mlecore-extensions", daemon=True)
                self._thread.start()
            self._put_count += 1
        self._queue.put((event, key, {"run": run, **about}))

    def catch_up(self, run: RunRecord, report: Callable[[], Report]) -> None:
        """Deliver what another controller did, but may not have delivered."""
        for event in _due(run) if self._active else ():
            if event != "run_graded":
                self.put(event, run)
            elif _key(event, run) not in self._delivered:
                try:
                    self.put(event, run, report=report())
                except (MlecoreError, OSError) as error:
                    self._journal.note("event not delivered", run.name, hook=event, why=str(error))

    def close(self, seconds: float) -> int:
        """Wait for pending deliveries, as long as one is made within ``seconds``.

        Returns the number of those left, which the next controller makes.
        """
        if self._thread is None:
            return 0
        self._queue.put(None)
        served = -1
        while self._thread.is_alive() and served < self._served:
            served = self._served
            self._thread.join(seconds)
        return self._put_count - self._served

    def _serve(self) -> None:
        while item := self._queue.get():
            event, key, arguments = item
            self._call(event, arguments)
            self._served += 1
            try:
                files.append(self._path, key)
            except (OSError, DataError):  # then it is delivered once more
                continue

    def _call(self, event: Event, arguments: Mapping[str, Any]) -> None:
        """Call each extension separately, so that one that fails does not affect the others."""
        assert self._manager is not None
        for implementation in getattr(self._manager.hook, event).get_hookimpls():
            values = [arguments[name] for name in implementation.argnames]
            try:
                implementation.function(*values)
            except (Exception, SystemExit) as error:
                why = f"{type(error).__name__}: {error}"
                run = arguments["run"].name
                self._journal.note("extension failed", run, plugin=implementation.plugin_name, hook=event, why=why)


def _due(run: RunRecord) -> Iterator[Event]:
    """The events that a run has had."""
    if run.attempt and run.attempt.handle and run.state != "starting":
        yield "run_started"
    if run.state in ("collected", "graded") or (run.state in ("cancelled", "failed") and run.ended):
        yield "run_finished"
    if run.state == "graded":
        yield "run_graded"


def _key(event: Event, run: RunRecord, findings: Findings | None = None) -> str:
    attempt = run.attempt.number if run.attempt else 0
    judged = f" {findings.detector.name} {findings.group} {findings.created_at}" if findings else ""
    return f"{event} {run.uid} {attempt}{judged}"
