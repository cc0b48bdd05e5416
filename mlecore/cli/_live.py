"""The live view of a controller on a terminal: what `mlecore runs watch` shows, redrawn in place."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.cli._shared import table_lines
from mlecore.controller.display import Lines, standing
from mlecore.errors import MlecoreError
from mlecore.printable import printable
from mlecore.units import show_duration

if TYPE_CHECKING:
    from mlecore.controller.reporting import ActiveRun
    from mlecore.controller.watching import Running, View

_EVERY = 10.0  # seconds between two looks at what the agents do
_SHARE = 20.0  # times as long as a look took: it costs little, however large the group is


class Live(Lines):
    """Messages scroll above it. A thread looks at the group now and then, as a look asks the backend."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.live import Live as Screen

        super().__init__(total, every=0.5)
        self.console = Console(stderr=True)
        self.view: View | None = None
        self._screen = Screen(console=self.console, auto_refresh=False, transient=True)
        self._observer: threading.Thread | None = None
        self._closed = threading.Event()

    def __enter__(self) -> Live:
        self._screen.__enter__()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self._closed.set()
        self._screen.__exit__(*arguments)

    def say(self, text: str) -> None:
        self.console.print(printable(text, lines=True), markup=False, highlight=False)

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None:
        from rich.text import Text

        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self.every
        active, view = list(active), self.view
        if active and self._observer is None:
            folder = active[0].record.folder.parent
            self._observer = threading.Thread(target=self._look, args=(folder,), name="live", daemon=True)
            self._observer.start()
        title = standing(active, counts, waiting, self.total) + (f"; {view.remaining}" if view else "")
        rows = running_lines(view.running, self.console.width) if view else []
        self._screen.update(Text("\n".join([title, *rows])), refresh=True)

    def _look(self, folder: Path) -> None:
        from mlecore.controller.watching import Watcher

        watcher: Watcher | None = None
        while not self._closed.is_set():
            started = time.monotonic()
            with suppress(MlecoreError, OSError):  # it says less for a while; the controller reports what is wrong
                watcher = watcher or Watcher(folder)
                self.view = watcher.look()
            self._closed.wait(max(_EVERY, _SHARE * (time.monotonic() - started)))


def running_lines(running: Sequence[Running], width: int | None) -> list[str]:
    """A table of the runs whose agents are at work; empty if there are none."""
    header = ["RUNNING", "USED", "LEFT", "CALLS", "TOKENS", "SNAPSHOTS", "LAST LINE"]
    return table_lines(header, map(_cells, running), width) if running else []


def _cells(run: Running) -> list[str]:
    numbers = ["" if value is None else f"{value:,}" for value in (run.calls, run.tokens, run.snapshots)]
    return [run.run, show_duration(int(run.used)), show_duration(int(run.left)), *numbers, run.why or run.last_line]
