"""The live table of a controller on a terminal: active runs, redrawn in place, and what each of them does."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.controller.display import describe, standing
from mlecore.errors import MlecoreError
from mlecore.printable import printable
from mlecore.units import show_duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mlecore.controller.reporting import ActiveRun
    from mlecore.controller.watching import View
    from mlecore.grading.report import Report
    from mlecore.runs.record import RunRecord

_SHOWN = 30  # active runs in the table; more would only scroll away
_EVERY = 10.0  # seconds between two looks at what the agents do
_SHARE = 20.0  # times as long as a look took: the table costs little, however large the group is
_RIGHT = ("seed", "attempt", "used", "left", "tokens")


class LiveTable:
    """Messages scroll above it."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.live import Live as Screen

        self.total = total
        self.console = Console(stderr=True)
        self._screen = Screen(console=self.console, auto_refresh=False, transient=True)
        self._next = 0.0
        self._observer = _Observer()

    def __enter__(self) -> LiveTable:
        self._screen.__enter__()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self._observer.close()
        self._screen.__exit__(*arguments)

    def changed(self, record: RunRecord, report: Report | None) -> None:
        if line := describe(record, report):
            self.say(line)

    def say(self, text: str) -> None:
        self.console.print(printable(text, lines=True), markup=False, highlight=False)

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.5
            self._screen.update(self._drawn(list(active), counts, waiting), refresh=True)

    def _drawn(self, active: list[ActiveRun], counts: Counter[str], waiting: int) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        if active:
            self._observer.begin(active[0].record.folder.parent)
        view = self._observer.view
        seen = {run.run: run for run in view.running} if view else {}
        title = standing(active, counts, waiting, self.total) + (f"; {view.remaining}" if view else "")
        grid = Table(title=Text(title), title_justify="left", expand=False)
        for name in ("agent", "competition", "seed", "attempt", "state", *_RIGHT[2:], "last line"):
            last = name == "last line"
            grid.add_column(
                name,
                justify="right" if name in _RIGHT else "left",
                no_wrap=last,
                overflow="ellipsis" if last else "fold",
                ratio=1 if last else None,
            )
        for run in active[:_SHOWN]:
            record, since, found = run.record, run.running_since, seen.get(run.record.name)
            used = int(time.monotonic() - since) if since and run.phase == "running" else None
            times = ("", "") if used is None else map(show_duration, (used, max(0.0, record.limits.time - used)))
            attempt = str(record.attempt.number) if record.attempt else ""
            tokens = "" if found is None or found.tokens is None else f"{found.tokens:,}"
            line = Text(record.reason if run.phase == "waiting" else found.last_line if found else "")
            grid.add_row(record.label, record.competition, str(record.seed), attempt, run.phase, *times, tokens, line)
        if len(active) > _SHOWN:
            grid.add_row(f"... {len(active) - _SHOWN} more")
        return grid


class _Observer:
    """Looks at the group now and then, in a thread of its own: a look asks the backend, which may take a while."""

    def __init__(self) -> None:
        self.view: View | None = None
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def begin(self, folder: Path) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, args=(folder,), name="table", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def _work(self, folder: Path) -> None:
        from mlecore.controller.watching import Watcher

        watcher: Watcher | None = None
        while not self._closed.is_set():
            started = time.monotonic()
            with suppress(MlecoreError, OSError):  # it says less for a while; the controller reports what is wrong
                watcher = watcher or Watcher(folder)
                self.view = watcher.look()
            self._closed.wait(max(_EVERY, _SHARE * (time.monotonic() - started)))
