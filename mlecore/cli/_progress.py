"""How far several pieces of work are: bars with the time left on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from mlecore.data.folders import human
from mlecore.data.many import Result

_EVERY = 30.0  # seconds between two lines of a log about the same step


@contextmanager
def watching() -> Iterator[Lines | Bars]:
    """A reporter for mlecore.data.many, fit for where standard error goes."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    bars = Bars()
    with bars.display:
        yield bars


class Lines:
    """One line when a step begins, and one now and then while it lasts."""

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
        amount = f" {human(done)} of {human(total)}" if total and done < total else ""
        self.say(competition, what + amount)

    def say(self, competition: str, line: str) -> None:
        click.echo(f"{competition}: {line}", err=True)

    def finished(self, result: Result) -> None:
        click.echo(describe(result), err=True)


class Bars:
    """A bar for each competition at work; results stay above them."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        self.display = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[competition]}"),
            TextColumn("{task.description}", style="dim"),
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
            if step != what:  # a new bar: the speed of another step says nothing of this one
                if task is not None:
                    self.display.remove_task(task)
                task = self.display.add_task(what, total=None, competition=competition)
                self._tasks[competition] = (what, task)
            self.display.update(task, completed=done, total=total or None)

    def say(self, competition: str, line: str) -> None:
        self.display.console.print(f"{competition}: {line}", markup=False, highlight=False)

    def finished(self, result: Result) -> None:
        with self._lock:
            _, task = self._tasks.pop(result.id, ("", None))
            if task is not None:
                self.display.remove_task(task)
        self.display.console.print(describe(result), markup=False, highlight=False)


def describe(result: Result) -> str:
    """One line for what became of a competition, more for its notes."""
    if result.state == "failed":
        return f"{result.id}: failed: {result.message}"
    outcome = result.outcome
    verified = ", as published" if outcome["verified"] else ""
    size = f"{outcome['files']:,} files, {human(outcome['bytes'])}{verified}"
    head = (
        f"{result.id}: {'prepared' if result.state == 'prepared' else 'is there already'} ({size}) in {outcome['root']}"
    )
    return "\n".join([head, *(f"  note: {note}" for note in outcome["notes"])])
