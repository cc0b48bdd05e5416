"""What a controller reports: to its display, to the journal, and as its result."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import field, mutable

from mlecore.errors import MlecoreError, redacted
from mlecore.model.record import RunRecord
from mlecore.runs.journal import Journal

if TYPE_CHECKING:
    from mlecore.model.report import Report

Phase = Literal["starting", "waiting", "running", "stopping", "collecting", "grading", "closing"]


@mutable(eq=False)
class ActiveRun:
    """A run in progress."""

    record: RunRecord
    phase: Phase
    running_since: float = 0.0  # monotonic: when this controller first saw it running
    cancelled: bool = False
    trouble: str = ""  # why the last try of its step failed; the next one follows


class Display(Protocol):
    """Gets notified of what happens; called in the loop's thread."""

    def changed(self, record: RunRecord, report: Report | None) -> None: ...

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None: ...

    def say(self, text: str) -> None: ...


@mutable
class GroupResult:
    """How a controller left its group. ``unfinished``: what was not finished, in words."""

    counts: Counter[str] = field(factory=Counter)
    unfinished: list[str] = field(factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        return not self.unfinished and not self.interrupted and not self.counts["failed"]


@mutable(eq=False)
class Reporter:
    """Reports things once, or now and then while they last."""

    display: Display
    journal: Journal
    result: GroupResult = field(factory=GroupResult)
    _silent_until: dict[str, float] = field(factory=dict)

    def changed(self, record: RunRecord, report: Report | None = None) -> None:
        """A run has come to another state."""
        self.display.changed(record, report)

    def say(self, text: str, every: float = 0.0) -> None:
        """Show ``text``; the same words not more often than ``every`` so many seconds."""
        now = time.monotonic()
        if now < self._silent_until.get(text, 0.0):
            return
        if every:
            if len(self._silent_until) > 1000:
                self._silent_until.clear()
            self._silent_until[text] = now + every
        self.display.say(text)

    def note(self, event: str, run: str | None = None, **details: Any) -> None:
        """For the journal alone."""
        self.journal.note(event, run, **details)

    def unfinished(self, event: str, why: str, run: str | None = None, **details: Any) -> None:
        """Something is not finished by this controller: shown, logged, and part of its result."""
        words = f"{run}: {why}" if run else why
        self.say(words)
        self.note(event, run, why=why, **details)
        self.result.unfinished.append(words)


def explain(error: Exception) -> str:
    """What went wrong, for a person: the message of our own errors, the type of others."""
    return redacted(str(error) if isinstance(error, (MlecoreError, OSError)) else repr(error))
