"""Progress of several competitions at once: bars with the time left on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mlecore.errors import MlecoreError
from mlecore.util.units import show_size

if TYPE_CHECKING:
    from mlecore.data.many import Outcome

_EVERY = 30.0  # seconds between two lines of a log about the same step


@contextmanager
def watching() -> Iterator[Log | Bars]:
    """An observer for mlecore.data.many that suits where standard error goes."""
    if not sys.stderr.isatty():
        yield Log()
        return
    bars = Bars()
    with bars.display:
        yield bars


class Log:
    """One line when a step begins, and one every half minute during it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[str, tuple[str, float]] = {}

    def progress(self, competition: str, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        with self._lock:
            step, last = self._steps.get(competition, ("", 0.0))
            if step == what and now - last < _EVERY:
                return
            self._steps[competition] = (what, now)
        amount = f" {show_size(done)} of {show_size(total)}" if total and done < total else ""
        self.say(competition, what + amount)

    def say(self, competition: str, line: str) -> None:
        click.echo(f"{competition}: {line}", err=True)

    def finished(self, outcome: Outcome) -> None:
        click.echo(end_line(outcome), err=True)


class Bars:
    """A bar for each competition that is being prepared; results stay above them."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        self.display = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[competition]}"),
            TextColumn("{task.description}", style="dim", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._lock = threading.Lock()
        self._tasks: dict[str, tuple[str, Any]] = {}

    def progress(self, competition: str, done: int, total: int, what: str) -> None:
        with self._lock:
            step, task = self._tasks.get(competition, ("", None))
            if step != what:  # a new bar: the speed of another step says nothing about this one
                if task is not None:
                    self.display.remove_task(task)
                task = self.display.add_task(what, total=None, competition=competition)
                self._tasks[competition] = (what, task)
            self.display.update(task, completed=done, total=total or None)

    def say(self, competition: str, line: str) -> None:
        self.display.console.print(f"{competition}: {line}", markup=False, highlight=False)

    def finished(self, outcome: Outcome) -> None:
        with self._lock:
            _, task = self._tasks.pop(outcome.competition, ("", None))
            if task is not None:
                self.display.remove_task(task)
        self.display.console.print(end_line(outcome), markup=False, highlight=False)


def end_line(outcome: Outcome) -> str:
    """One line for how it ended, more for its notes."""
    if isinstance(outcome.result, MlecoreError):
        return f"{outcome.competition}: failed: {outcome.result.message}"
    prepared = outcome.result.prepared
    head = prepared.manifest
    assert head is not None
    own = head.source in ("kaggle", "fetch", "synthetic")
    found = ", as published" if head.verified else "" if own else ", unverified"
    size = f"{head.files:,} files, {show_size(head.bytes)}{found}"
    done = "prepared" if outcome.result.done else "already prepared"
    return "\n".join(
        [
            f"{outcome.competition}: {done} ({size}) in {prepared.root}",
            *(f"  note: {note}" for note in outcome.result.notes),
        ]
    )
