"""The active runs, and what follows each of their steps.

A run is in a step (in a worker thread) or at work (the backend has its job, see `polling`). Only this file changes
an ActiveRun, in the loop's thread; only `transitions` writes, in worker threads.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from attrs import evolve

from mlecore.backends import Handle, Job, JobStatus
from mlecore.controller.detection import Detection
from mlecore.controller.failures import Abandon, CountAsLost, Fail, Leave, Retry, decide, describe
from mlecore.controller.queue import Backlog
from mlecore.controller.reporter import Reporter
from mlecore.controller.state import ActiveRun, Display, GroupResult, Timing
from mlecore.controller.transitions import Transitions
from mlecore.controller.workers import Background, Pool
from mlecore.errors import BackendUnreachable
from mlecore.runs.cancelled import REASON
from mlecore.runs.lock import LockLost
from mlecore.runs.plan import PlannedRun
from mlecore.runs.record import Attempt, RunRecord, RunSummary

if TYPE_CHECKING:
    from mlecore.grading.report import Report

T = TypeVar("T")


class Lifecycle:
    """Moves runs from the backlog to their end. For the loop's thread alone."""

    def __init__(
        self,
        transitions: Transitions,
        background: Background,
        backlog: Backlog,
        detection: Detection,
        reporter: Reporter,
        display: Display,
        result: GroupResult,
        timing: Timing,
    ) -> None:
        self.active: dict[str, ActiveRun] = {}
        self.delayed: dict[str, RunRecord] = {}  # runs that wait for the time of their next attempt
        self.closing: set[str] = set()  # runs that have not begun and are being cancelled, all in one write
        self.backlog = backlog
        self._transitions = transitions
        self._detection = detection
        self._background = background
        self._reporter = reporter
        self._display = display
        self._result = result
        self._timing = timing

    @property
    def waiting(self) -> int:
        return self.backlog.length + len(self.delayed)

    @property
    def unsettled(self) -> bool:
        """Do runs besides those of the backlog still have something before them?"""
        return bool(self.active or self.delayed or self.closing)

    @property
    def judging(self) -> bool:
        """Are detectors at work?"""
        return self._background.busy("detect") > 0

    def watched(self) -> list[ActiveRun]:
        """Runs whose job the backend has."""
        return [active for active in self.active.values() if active.watched]

    def at_work(self) -> Counter[str]:
        """Label -> how many runs use the backend, or are about to."""
        return Counter(active.record.label for active in self.active.values() if active.phase != "grading")

    def tick(self) -> None:
        self._display.tick(self.active.values(), self._result.counts, self.waiting)

    # From the backlog to the backend.

    def resume(self, record: RunRecord) -> None:
        """Continue a run from the state in its record; every step can be repeated."""
        self._transitions.catch_up(record)
        if record.state == "planned":
            self.backlog.add(record)
        elif record.state == "starting":
            self.start(record)
        elif record.state in ("running", "collecting"):
            self._watch(record)
        elif record.state == "collected":
            self._grade(record)
        elif record.state == "graded" and (why := self._transitions.without_report(record)):
            self._reporter.say(f"{record.name}: {why}; grading it again")
            self._grade(record)
        else:
            self.count(record)

    def count(self, record: RunSummary) -> None:
        """A run that was at its end before."""
        self._result.counts[record.state] += 1
        self.backlog.ended(record)

    def start(self, record: RunRecord) -> None:
        """A run whose turn has come, or one that another controller was about to start."""
        active = self.active[record.name] = ActiveRun(record, "starting")

        def begun(result: tuple[RunRecord, Job | None]) -> None:
            active.record, job = result
            self._display.changed(active.record, None)
            if job is None:
                self._grade(active.record)
            else:
                self._step(active, "start", partial(self._transitions.launch, active.record, job), self._watch)

        self._step(active, "start", partial(self._transitions.begin, record), begun)

    def _watch(self, record: RunRecord) -> None:
        """The backend has the run's job."""
        active = self.active.setdefault(record.name, ActiveRun(record, "running"))
        active.record, active.phase = record, "running"
        active.running_since = active.watched_since = time.monotonic()
        self._display.changed(record, None)
        if active.cancel:
            self._stop(active)

    # While the backend has it.

    def seen(self, active: ActiveRun, status: JobStatus) -> None:
        """The backend's status of a run's job."""
        if not active.watched:
            return
        active.status = status
        if status.phase in ("exited", "gone"):
            self._collect(active, status)
            return
        if status.phase == "pending":
            active.running_since = time.monotonic()
        if active.phase == "stopping":
            return
        if active.cancel:
            self._stop(active)
        elif time.monotonic() - active.running_since > self._longest(active.record):
            self._reporter.say(f"{active.record.name} is far beyond its time limit: stopping it from here")
            self._stop(active)

    def _longest(self, record: RunRecord) -> float:
        return record.limits.time + record.grace + self._timing.overdue

    def _stop(self, active: ActiveRun) -> None:
        """End a job. Its end is then noticed like any other, perhaps before this returns."""
        active.phase = "stopping"

        def failed(error: Exception) -> None:
            self._reporter.say(f"{active.record.name} cannot be stopped: {describe(error)}; trying again", every=60)
            self._background.later(5 * self._timing.step_delay, retry)

        def retry() -> None:
            if active.phase == "stopping":
                self._stop(active)

        step = partial(self._transitions.stop, active.record)
        self._background.submit("stop", step, lambda stopped: None, failed)

    # From the backend to the end.

    def _collect(self, active: ActiveRun, status: JobStatus) -> None:
        """The job has ended."""
        active.phase, active.status = "collecting", status
        seconds = time.monotonic() - active.running_since if active.running_since else None
        step = partial(self._transitions.finish, active.record, status, seconds, active.cancel)
        self._step(active, "finish", step, partial(self._attempt_ended, active))

    def _attempt_ended(self, active: ActiveRun, record: RunRecord) -> None:
        active.record = record
        if record.state == "collected":
            self._display.changed(record, None)
            self.backlog.ended(record)
            self._grade(record)
        elif record.state == "planned":
            self._display.changed(record, None)
            self._retry_later(record)
        else:
            self._ended(record)

    def _retry_later(self, record: RunRecord) -> None:
        """A new attempt after an infrastructure failure, each time after a longer delay."""
        self.active.pop(record.name, None)
        self.delayed[record.name] = record
        failures = len(record.attempts) - record.retry_from
        delay = min(self._timing.attempt_delay * 2 ** (failures - 1), self._timing.attempt_delay_max)
        self._reporter.say(f"{record.name}: infrastructure failure: {record.reason}; a new attempt in {delay:.0f} s")

        def enqueue() -> None:
            if self.delayed.pop(record.name, None):
                self.backlog.add(record)

        self._background.later(delay, enqueue)

    def _grade(self, record: RunRecord) -> None:
        active = self.active.setdefault(record.name, ActiveRun(record, "grading"))
        active.record, active.phase, active.tries = record, "grading", 0

        def graded(result: tuple[RunRecord, Report]) -> None:
            self._ended(*result)

        self._step(active, "grade", partial(self._transitions.grade, record), graded)

    def _ended(self, record: RunRecord, report: Report | None = None) -> None:
        self.active.pop(record.name, None)
        self._result.counts[record.state] += 1
        self._display.changed(record, report)
        if record.state == "graded":
            self._detection.graded(record)

    def close(self, record: RunRecord, state: Literal["cancelled", "failed"], reason: str) -> None:
        """Cancel or fail a run that is not at work."""
        active = self.active.setdefault(record.name, ActiveRun(record, "closing"))
        active.phase = "closing"
        self._step(active, "finish", partial(self._transitions.close, record, state, reason), self._ended)

    # What people ask for.

    def cancel(self, active: ActiveRun) -> None:
        """End a run that starts or is at work; its files are kept, not graded."""
        active.cancel = True
        if active.phase == "running":
            self._stop(active)

    def retry(self, record: RunRecord) -> None:
        """Plan a run again that has ended."""
        active = self.active[record.name] = ActiveRun(record, "closing")

        def planned(fresh: RunRecord) -> None:
            self.active.pop(fresh.name, None)
            self._result.counts[record.state] -= 1
            self.backlog.add(fresh)
            self._display.changed(fresh, None)

        self._step(active, "finish", partial(self._transitions.plan_again, record), planned)

    def take_waiting(self, planned: PlannedRun) -> RunRecord | PlannedRun | None:
        """A run that waits, out of its turn: its record, or its plan where it has none yet."""
        return self.backlog.take(planned) or self.delayed.pop(planned.name, None)

    def cancel_waiting(self, runs: Sequence[RunRecord | PlannedRun]) -> None:
        """Cancel runs that were taken from those that wait."""
        unbegun = [run.name for run in runs if isinstance(run, PlannedRun)]
        for record in runs:
            if isinstance(record, RunRecord):
                self.close(record, "cancelled", REASON)
        if unbegun:
            self.closing.update(unbegun)
            self._cancel_unbegun(unbegun)

    def _cancel_unbegun(self, names: Sequence[str]) -> None:
        def cancelled(done: None) -> None:
            self.closing.difference_update(names)
            self._result.counts["cancelled"] += len(names)
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self._reporter.say(f"{REASON}: {', '.join(names[:3])}{more}")

        def failed(error: Exception) -> None:
            if isinstance(error, LockLost):
                raise error
            if not isinstance(error, OSError):
                self.closing.difference_update(names)
                self._reporter.unfinished("left", f"{len(names)} runs are not cancelled: {describe(error)}")
                return
            self._reporter.say(f"runs cannot be cancelled: {describe(error)}; trying again", every=60)
            self._background.later(5 * self._timing.step_delay, partial(self._cancel_unbegun, names))

        self._background.submit("finish", partial(self._transitions.cancel_unbegun, names), cancelled, failed)

    def cancel_all(self) -> bool:
        """Cancel every run that has not ended; False once there is none."""
        for active in list(self.active.values()):
            if active.phase in ("starting", "running", "stopping"):
                self.cancel(active)
        self.cancel_waiting([*self.backlog.take_all(), *self.delayed.values()])
        self.delayed.clear()
        return bool(self.closing) or any(run.cancel or run.phase == "closing" for run in self.active.values())

    # Jobs that no record knows.

    def claim(self, planned: PlannedRun, number: int, handle: Handle) -> None:
        """A job that the backend has for the ``number``-th attempt of a run.

        It is taken over if its run waits to begin: a controller died after it started the job. Else it is removed.
        """
        active = self.active.get(planned.name)
        if active and active.phase not in ("grading", "closing") and _job(active.record) == handle.name:
            return
        taken = None if active else self.backlog.take(planned)
        waiting = self.backlog.record(taken) if taken else None
        if waiting and all(attempt.number < number for attempt in waiting.attempts):
            self._reporter.say(f"{planned.name}: the backend has its job {handle.name} already: taking it over")
            attempt = Attempt(number=number, job=handle.name)
            self.start(evolve(waiting, attempts=(*waiting.attempts, attempt), state="starting"))
            return
        if taken:
            self.backlog.add(taken)
        self._remove_job(handle)

    def _remove_job(self, handle: Handle) -> None:
        """End and remove a job that no longer belongs to a run. If that fails, resuming the group finds it."""
        self._reporter.note("job removed", job=handle.name)
        step = partial(self._transitions.remove_job, handle)
        self._background.submit("stop", step, lambda removed: None, lambda error: None)

    # Steps, and what follows when one fails.

    def _step(self, active: ActiveRun, pool: Pool, function: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do a step in a worker and continue; if it fails, do what ``failures`` decides."""

        def done(result: T) -> None:
            active.tries = 0
            then(result)

        retry = partial(self._step, active, pool, function, then)
        self._background.submit(pool, function, done, partial(self._failed, active, retry))

    def _failed(self, active: ActiveRun, retry: Callable[[], None], error: Exception) -> None:
        if isinstance(error, LockLost):
            raise error
        active.tries += 1
        record, why = active.record, describe(error)
        decision = decide(active, error, self._timing, partial(self._transitions.answers_are_there, record))
        if isinstance(decision, Retry):
            if isinstance(error, BackendUnreachable):
                self._reporter.say(f"the backend does not answer: {why}; asking again", every=300)
            else:
                self._reporter.say(f"{record.name}: {active.phase}: {why}; trying again, nothing is lost", every=60)
            if active.tries < self._timing.step_tries:
                self._reporter.note("step failed", record.name, step=active.phase, why=why)
            self._background.later(decision.seconds, retry)
        elif isinstance(decision, Fail):
            self.close(record, "failed", why)
        elif isinstance(decision, CountAsLost):
            active.tries = 0
            certain = active.status is not None and active.status.infra_failure
            words = f"what it left cannot be fetched: {why}"
            self._collect(active, JobStatus(phase="gone", reason=words, in_doubt=not certain))
        elif isinstance(decision, Leave):
            self.active.pop(record.name, None)
            what = "not graded" if active.phase == "grading" else active.phase
            self._reporter.unfinished("left", f"{what}: {why}", record.name, step=active.phase)
        elif isinstance(decision, Abandon):
            self.active.pop(record.name, None)
            words = "its folder was deleted; its job is stopped, and resuming starts it again"
            self._reporter.unfinished("folder deleted", words, record.name)
            if record.attempt and record.attempt.handle and active.phase != "grading":
                self._remove_job(record.attempt.handle)


def _job(record: RunRecord) -> str | None:
    return record.attempt.job if record.attempt else None
