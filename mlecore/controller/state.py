"""Values of the controller: its timing, an active run, its watcher, its outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Protocol

from attrs import field, frozen, mutable

from mlecore.backends import JobStatus
from mlecore.runs.record import RunRecord

if TYPE_CHECKING:
    from mlecore.grading.report import Report

Phase = Literal["starting", "running", "stopping", "collecting", "grading", "closing"]


@frozen(kw_only=True)
class Timing:
    """The controller's delays, in seconds."""

    poll_min: float = 0.1
    poll_max: float = 10.0
    poll_share: float = 0.1  # of the age of the youngest job
    slow: float = 3.0  # before a preparation that takes longer is reported
    step_delay: float = 1.0  # before a step that failed because of the disk or the backend is repeated; doubles
    step_delay_max: float = 60.0
    attempt_delay: float = 15.0  # before a new attempt; doubles
    attempt_delay_max: float = 600.0
    step_tries: int = 4  # of a step that fails for another reason
    start_tries: int = 10  # before a run is failed that the disk keeps from starting
    overdue: float = 120.0  # beyond limit and grace, before a job whose init has died is stopped from here
    requests: float = 1.0  # between two checks for requests
    drain: float = 10.0  # for steps in progress, when the controller is asked to stop
    deliver: float = 60.0  # for each next event to reach the extensions, when all runs have ended


class Display(Protocol):
    """Gets notified of what happens; called in the loop's thread."""

    def changed(self, record: RunRecord, report: Report | None) -> None: ...

    def tick(self, active: Iterable[ActiveRun], counts: Counter[str], waiting: int) -> None: ...

    def say(self, text: str) -> None: ...


@mutable(eq=False)
class ActiveRun:
    """A run that has begun and not ended."""

    record: RunRecord
    phase: Phase
    running_since: float = 0.0  # monotonic: when this controller first saw it running
    watched_since: float = 0.0  # monotonic: since when its status is asked for
    tries: int = 0  # of the step in progress that failed
    cancel: bool = False
    status: JobStatus | None = None

    @property
    def watched(self) -> bool:
        """The backend has its job."""
        return self.phase in ("running", "stopping")


@mutable
class GroupResult:
    """How a controller left its group. ``unfinished``: what was not finished, in words."""

    counts: Counter[str] = field(factory=Counter)
    unfinished: list[str] = field(factory=list)
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        return not self.unfinished and not self.interrupted and not self.counts["failed"]
