"""Telling extensions what happens in a group: each event at least once and in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlecore import files
from mlecore.runs.journal import Journal
from mlecore.runs.record import RunRecord

TOLD = "told.log"


class Extensions:
    """Extensions, told from one thread of their own: a slow or failing one holds up no run.

    What was told is noted after it was told, so that an event lost with the controller comes again when it goes on.
    """

    def __init__(self, group: Path, journal: Journal, manager: Any | None) -> None:
        self._path = group / TOLD
        self._journal = journal
        self._manager = manager
        self._active = manager is not None and any(True for _ in manager.list_name_plugin())
        self._queue: queue.SimpleQueue[tuple[str, RunRecord, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._told = self._read() if self._active else set()

    def _read(self) -> set[str]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return set()
        return set(lines[:-1])  # what follows the last newline is torn or empty

    @property
    def active(self) -> bool:
        return self._active

    def started(self, run: RunRecord) -> None:
        self._put("run_started", run, None)

    def finished(self, run: RunRecord) -> None:
        self._put("run_finished", run, None)

    def graded(self, run: RunRecord, report: Any) -> None:
        self._put("run_graded", run, report)

    def catch_up(self, run: RunRecord, report: Callable[[], Any]) -> None:
        """Tell what a controller before us did, but may not have told."""
        if not self._active:
            return
        if run.attempt and run.attempt.handle and run.state != "starting":
            self.started(run)
        if run.state in ("collected", "graded") or (run.state in ("cancelled", "failed") and run.ended):
            self.finished(run)
        if run.state == "graded" and _key("run_graded", run) not in self._told:
            self.graded(run, report())

    def close(self, seconds: float) -> None:
        """Wait a while for what is still to be told; what is not comes again with the next controller."""
        if self._thread:
            self._queue.put(None)
            self._thread.join(seconds)

    def _put(self, hook: str, run: RunRecord, report: Any) -> None:
        if not self._active or _key(hook, run) in self._told:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="mlecore-extensions", daemon=True)
            self._thread.start()
        self._queue.put((hook, run, report))

    def _serve(self) -> None:
        while item := self._queue.get():
            hook, run, report = item
            self._tell(hook, run, report)
            try:
                files.append(self._path, _key(hook, run))
            except OSError:  # then it is told once more
                continue

    def _tell(self, hook: str, run: RunRecord, report: Any) -> None:
        """Call each extension by itself, so that one that fails keeps none of the others from hearing."""
        assert self._manager is not None
        arguments = {"run": run} if hook != "run_graded" else {"run": run, "report": report}
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            values = [arguments[name] for name in implementation.argnames]
            try:
                implementation.function(*values)
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                self._journal.note("extension failed", run.name, plugin=implementation.plugin_name, hook=hook, why=why)


def _key(hook: str, run: RunRecord) -> str:
    attempt = run.attempt.number if run.attempt else 0
    return f"{hook} {run.uid} {attempt}"
