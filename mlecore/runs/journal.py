"""The event log of a group, one line per event."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlecore.errors import DataError, redacted
from mlecore.model.record import STATES
from mlecore.util import files
from mlecore.util.regular import open_regular

EVENTS = "events.jsonl"
_LONGEST = 1 << 20  # bytes of one line
_MOST = 1 << 30  # bytes that are read; 10,000 runs write some 10 MB


def now() -> str:
    """The time by the wall clock, for people. No decision depends on it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """The group's events.jsonl. It is for people: losing it loses no run."""

    def __init__(self, group: Path, before: Callable[[], None] = lambda: None) -> None:
        """``before`` is called before each event. If it raises OSError, the event is not written."""
        self.path = group / EVENTS
        self._before = before
        self._lock = threading.Lock()

    def note(self, event: str, run: str | None = None, **details: Any) -> None:
        """Add one event. A failing disk does not stop a run."""
        line = json.dumps({"at": now(), "run": run, "event": event, **details}, ensure_ascii=False)
        try:
            with self._lock:
                self._before()
                files.append(self.path, redacted(line))
        except (OSError, DataError):
            return

    def read(self, run: str | None = None, event: str | None = None) -> Iterator[dict[str, Any]]:
        """All events, or those of a run or of a kind. Skips torn lines, and a journal that is not a regular file."""
        try:
            lines = os.fdopen(open_regular(self.path, below=self.path.parent), "rb")
        except (OSError, DataError):
            return
        wanted = {key: value for key, value in (("run", run), ("event", event)) if value is not None}
        marks = [json.dumps(value).encode() for value in wanted.values()]
        with lines:
            while line := lines.readline(_LONGEST):
                if lines.tell() > _MOST:
                    return
                if not all(mark in line for mark in marks):
                    continue
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict) and all(found.get(key) == value for key, value in wanted.items()):
                    yield found

    def started(self) -> set[str] | None:
        """Names of the runs that have had a record; None if there is no journal."""
        if not self.path.is_file():
            return None
        events = ((event.get("run"), event.get("event")) for event in self.read())
        return {run for run, event in events if isinstance(run, str) and event in STATES}
