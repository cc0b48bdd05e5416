"""What the controller works with: its timing, a run at work, who looks on, how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

from attrs import field, frozen, mutable

from mlecore.backends import JobStatus
from mlecore.runs.record import RunRecord


@frozen(kw_only=True)
class Timing:
    """How long the controller waits for what, in seconds."""

    poll_least: float = 0.1
    poll_most: float = 10.0
    poll_share: float = 0.1  # of the age of the youngest job
    quiet: float = 3.0  # before a preparation that takes longer is told of
    step_first: float = 1.0  # before a step that failed for the disk or the place is done again; doubles
    step_most: float = 60.0
    retry_first: float = 15.0  # before a new attempt; doubles
    retry_most: float = 600.0
    tries: int = 4  # of a step that fails otherwise
    start_tries: int = 10  # before a run is failed that the disk keeps from starting
    overdue: float = 120.0  # beyond limit and grace, before a job whose init has died is stopped from here
    requests: float = 1.0
    linger: float = 10.0  # for steps at work, when the controller is told to stop


class Display(Protocol):
    """Who looks on: called in the loop's thread."""

    def changed(self, record: RunRecord, report: Any | None) -> None: ...

    def tick(self, live: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None: ...

    def say(self, text: str) -> None: ...


@mutable(eq=False)
class ActiveRun:
    """A run that is neither waiting nor settled."""

    record: RunRecord
    phase: str  # starting, running, stopping, finishing, grading
    since: float = 0.0  # monotonic: when this controller first saw it running
    watched: float = 0.0  # monotonic: since when it is asked for
    tries: int = 0
    cancel: bool = False
    status: JobStatus | None = None


@mutable
class GroupResult:
    """How a controller left its group. ``left``: what did not come to an end, in words."""

    counts: Counter[str] = field(factory=Counter)
    left: list[str] = field(factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        return not self.left and not self.interrupted and not self.counts["failed"]


class Interrupted(Exception):
    """The controller leaves: what a worker brings back now is no longer followed up."""
