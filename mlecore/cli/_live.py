"""The picture of an active group, which `mlecore run` and `mlecore runs watch` redraw on a terminal."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.cli.shared import in_folder, table_lines
from mlecore.controller.display import Lines
from mlecore.errors import MlecoreError
from mlecore.util.printable import printable
from mlecore.util.units import counted, show_duration

if TYPE_CHECKING:
    from mlecore.controller.reporting import ActiveRun
    from mlecore.controller.watching import Running, View

_EVERY = 5.0  # seconds between two looks
_SHARE = 20.0  # times as long as a look took: it costs little, however large the group is


class Live(Lines):
    """Messages scroll above the picture. A thread draws it, as a look asks the backend."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.live import Live as Screen

        super().__init__(total)
        self.console = Console(stderr=True)
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
        if self._observer is None and (run := next(iter(active), None)):
            folder = run.record.folder.parent
            self._observer = threading.Thread(target=self._look, args=(folder,), name="live", daemon=True)
            self._observer.start()

    def _look(self, folder: Path) -> None:
        from rich.text import Text

        from mlecore.controller.watching import Watcher

        watcher: Watcher | None = None
        while not self._closed.is_set():
            started = time.monotonic()
            with suppress(MlecoreError, OSError):  # it says less for a while; the controller reports what is wrong
                watcher = watcher or Watcher(folder)
                lines = picture(watcher.look(), self.console.width, folder.parent)
                self._screen.update(Text("\n".join(lines)), refresh=True)
            self._closed.wait(max(_EVERY, _SHARE * (time.monotonic() - started)))


def picture(view: View, width: int | None, runs: Path) -> list[str]:
    """A group in lines: runs by agent and state, why some wait, the time to the end, and the active runs."""
    total = sum(count for states in view.agents.values() for count in states.values())
    out = [f"{view.group}: {counted(total, 'run')}; {view.remaining}"]
    states = list(dict.fromkeys(state for each in view.agents.values() for state in each))
    rows = [[label, *(str(each.get(state, 0)) for state in states)] for label, each in view.agents.items()]
    out += table_lines(["AGENT", *map(str.upper, states)], rows, width)
    out += [f"{counted(number, 'run')} waiting: {reason}" for reason, number in view.waiting.items()]
    if view.outcomes:
        out.append(f"As reported by agents: {'; '.join(f'{n} x {what}' for what, n in view.outcomes.items())}")
    if not view.ended and not view.controlled:
        out.append(f"No controller is running for it: mlecore runs resume {view.group}{in_folder(runs)}")
    if view.running:
        header = ["RUNNING", "USED", "LEFT", "CALLS", "TOKENS", "SNAPSHOTS", "LAST LINE"]
        out += ["", *table_lines(header, map(_cells, view.running), width)]
    return out + [f"warning: {problem}" for problem in view.problems]


def _cells(run: Running) -> list[str]:
    numbers = ["" if value is None else f"{value:,}" for value in (run.calls, run.tokens, run.snapshots)]
    return [run.run, show_duration(int(run.used)), show_duration(int(run.left)), *numbers, run.why or run.last_line]
