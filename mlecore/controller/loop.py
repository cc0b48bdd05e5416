"""One loop that brings every run of a group to its end: it decides, worker threads do what blocks.

A run is in one place at a time: waiting in the backlog, in a step (a worker thread has it), or at work (the backend has
it, and the loop asks for its status). Only the loop changes ``ActiveRun``; only steps write.
"""

from __future__ import annotations

import heapq
import itertools
import os
import queue
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from mlecore.backends import Handle, JobStatus
from mlecore.controller.experiment import Experiment
from mlecore.controller.extensions import Extensions
from mlecore.controller.provision import Provision
from mlecore.controller.queue import Backlog, at_once
from mlecore.controller.state import ActiveRun, Display, GroupResult, Interrupted, Timing
from mlecore.controller.stepping import Stepper
from mlecore.controller.transitions import Steps
from mlecore.controller.workers import Results, Workers
from mlecore.errors import BackendError
from mlecore.runs import requests
from mlecore.runs.journal import Journal
from mlecore.runs.lock import GroupLock
from mlecore.runs.plan import PlannedRun
from mlecore.runs.record import RunRecord
from mlecore.runs.store import Group


class Controller:
    """Runs a group until all of it is settled, or ``stop`` is called. Holds the group's lock meanwhile."""

    def __init__(
        self,
        group: Group,
        experiment: Experiment,
        lock: GroupLock,
        display: Display,
        timing: Timing | None = None,
        finished: frozenset[str] = frozenset(),
    ) -> None:
        self.group, self.experiment, self.lock, self.display = group, experiment, lock, display
        self.timing = timing or Timing()
        self.journal = Journal(group.folder)
        self.extensions = Extensions(group.folder, self.journal, experiment.extensions)
        self.steps = Steps(group, experiment, self.journal, self.extensions)
        self.outcome = GroupResult()
        self.live: dict[str, ActiveRun] = {}
        sizes = {id: inputs.facts.size_gb or 0.0 for id, inputs in experiment.inputs.items()}
        self.backlog = Backlog(sizes=sizes, limit=experiment.plan.limits.time)
        self._results: Results = queue.SimpleQueue()
        cores = os.cpu_count() or 1
        self._starters = Workers(4, "start", self._results)
        self._finishers = Workers(4, "finish", self._results)
        self._graders = Workers(min(4, cores), "grade", self._results)
        self.providers = Workers(2, "provide", self._results)
        self._pollers = Workers(1, "poll", self._results)
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self.provision = Provision(self, finished)
        self.stepper = Stepper(self)
        self._slots = 0
        self._next_poll = self._next_requests = self._next_capacity = 0.0
        self._requests_stamp = ""
        self._unreachable = False
        self._stopping = False
        self._said: dict[str, float] = {}
        self.retrying: dict[str, RunRecord] = {}  # runs that wait for their next attempt
        self.searching = False  # for jobs that no record tells of; nothing new begins meanwhile
        self.start_new = True

    def stop(self) -> None:
        """Begin nothing more and leave; runs at work go on without us. May be called from a signal handler."""
        self._stopping = True

    def run(self, only: frozenset[str] | None = None) -> GroupResult:
        """All runs, or those named. Raises LockLost; what else goes wrong is told and left for the next controller."""
        from mlecore.controller.recovery import recover

        try:
            recover(self, only)
            self._listen(time.monotonic())
            while not self._finished() and not self._stopping:
                self._turn()
            if self._stopping:
                self._leave()
        finally:
            self.steps.closed = True  # a thread that is left over must not write beside another controller
        self.extensions.close(self.timing.linger)
        return self.outcome

    def _turn(self) -> None:
        now = time.monotonic()
        self.lock.beat()
        self._listen(now)
        while self._later and self._later[0][0] <= now:
            heapq.heappop(self._later)[2]()
        self._poll(now)
        self._fill(now)
        self.display.tick(self.live.values(), self.outcome.counts, self.backlog.length + len(self.retrying))
        self._drain()  # last, since it waits: the first turn starts runs at once

    def _finished(self) -> bool:
        waiting = self.backlog.length and self.start_new
        return not (waiting or self.live or self.retrying or self._busy())

    def _busy(self) -> int:
        return sum(workers.busy for workers in (self._starters, self._finishers, self._graders, self.providers))

    def _leave(self) -> None:
        """Let steps at work come to their end for a while; killed in the middle they would be done again."""
        self.outcome.interrupted = True
        deadline = time.monotonic() + self.timing.linger
        while self._busy() and time.monotonic() < deadline:
            try:
                self._results.get(timeout=0.1)[0](None, Interrupted())
            except queue.Empty:
                continue

    # What comes back from workers.

    def _drain(self) -> None:
        now = time.monotonic()
        wakes = [self._next_requests, now + 1.0]
        if not self._pollers.busy and any(live.phase in ("running", "stopping") for live in self.live.values()):
            wakes.append(self._next_poll)
        if self._later:
            wakes.append(self._later[0][0])
        timeout = max(0.0, min(wakes) - now)
        try:
            done, result, error = self._results.get(timeout=timeout) if timeout else self._results.get_nowait()
            while True:
                done(result, error)
                done, result, error = self._results.get_nowait()
        except queue.Empty:
            return

    def later(self, seconds: float, function: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), function))

    def say(self, text: str, every: float = 0.0) -> None:
        """Tell the user; the same words not more often than ``every`` so many seconds."""
        now = time.monotonic()
        if every and now < self._said.get(text, 0.0):
            return
        if every:
            if len(self._said) > 1000:
                self._said.clear()
            self._said[text] = now + every
        self.display.say(text)

    # Requests of others.

    def _listen(self, now: float) -> None:
        if now < self._next_requests:
            return
        self._next_requests = now + self.timing.requests
        stamp = requests.stamp(self.group.folder)
        if stamp == self._requests_stamp:
            return
        self._requests_stamp = stamp
        from mlecore.controller.recovery import answer

        answer(self)

    # Runs at work.

    def _poll(self, now: float) -> None:
        watched = [live for live in self.live.values() if live.phase in ("running", "stopping")]
        if not watched or now < self._next_poll or self._pollers.busy:
            return
        handles = {live.record.attempt.handle: live for live in watched if live.record.attempt}

        def done(result: Any, error: BaseException | None) -> None:
            youngest = min((time.monotonic() - live.watched for live in watched), default=0.0)
            wait = min(max(youngest * self.timing.poll_share, self.timing.poll_least), self.timing.poll_most)
            self._next_poll = time.monotonic() + wait
            if error is None:
                if self._unreachable:
                    self._unreachable = False
                    self.say(f"backend {self.experiment.plan.backend} answers again")
                for handle, status in result.items():
                    if handle in handles:
                        self._seen(handles[handle], status)
            elif not isinstance(error, Exception):
                raise error
            else:
                self._next_poll = time.monotonic() + max(wait, self.timing.step_first)
                if not self._unreachable:
                    self._unreachable = True
                    self.say(f"backend {self.experiment.plan.backend} does not answer: {error}; its runs go on")
                    self.journal.note("place unreachable", why=str(error))

        self._pollers.submit(partial(self.experiment.backend.status, list(handles)), done)  # type: ignore[arg-type]

    def _seen(self, live: ActiveRun, status: JobStatus) -> None:
        if live.phase not in ("running", "stopping"):
            return
        live.status = status
        if status.phase in ("exited", "gone"):
            self.finish(live, status)
        elif status.phase == "running" and live.phase == "running":
            limits = self.experiment.plan.limits
            if live.cancel:
                self._stop(live)
            elif time.monotonic() - live.since > limits.time + live.record.grace + self.timing.overdue:
                self.say(f"{live.record.name} is far beyond its time limit: stopping it from here")
                self._stop(live)
        elif status.phase == "pending":
            live.since = time.monotonic()
            if live.cancel and live.phase == "running":
                self._stop(live)

    def _stop(self, live: ActiveRun) -> None:
        """Have a job ended. Its end is then seen like any other, perhaps before this comes back."""
        live.phase = "stopping"

        def again() -> None:
            if live.phase == "stopping":
                self._stop(live)

        def done(result: Any, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, Exception):
                raise error
            if error is not None and not isinstance(error, Interrupted):
                self.say(f"{live.record.name} cannot be stopped: {error}; trying again", every=60)
                self.later(5 * self.timing.step_first, again)

        self.ask(partial(self.steps.stop, live.record), done)

    def watch(self, record: RunRecord) -> None:
        """A run that is at work at the place."""
        live = self.live.setdefault(record.name, ActiveRun(record, "running"))
        live.record, live.phase = record, "running"
        live.since = live.watched = time.monotonic()
        self._next_poll = min(self._next_poll, time.monotonic() + self.timing.poll_least)
        self.display.changed(record, None)
        if live.cancel:
            self._stop(live)

    def finish(self, live: ActiveRun, status: JobStatus) -> None:
        """A run whose job is at its end."""
        live.phase, live.status = "finishing", status
        seconds = time.monotonic() - live.since if live.since else None
        step = partial(self.steps.finish, live.record, status, seconds, live.cancel)
        self.stepper.do(live, self._finishers, step, partial(self.finished, live))

    def finished(self, live: ActiveRun, record: RunRecord) -> None:
        """A run whose attempt has come to its end."""
        live.record = record
        self.display.changed(record, None)
        if record.state == "collected":
            self.backlog.took(record.label, record.competition, record.seconds)
            self.grade(record)
        elif record.state == "planned":
            self.live.pop(record.name, None)
            faults = len(record.attempts) - record.retry_from
            delay = min(self.timing.retry_first * 2 ** (faults - 1), self.timing.retry_most)
            self.say(f"{record.name}: {record.reason}; the place's fault, a new attempt in {delay:.0f} s")
            self.retrying[record.name] = record

            def again() -> None:
                if self.retrying.pop(record.name, None):
                    self.backlog.add(record.label, record.competition, record)

            self.later(delay, again)
        else:
            self.settled(live, record)

    def grade(self, record: RunRecord) -> None:
        """A run that is collected."""
        live = self.live.setdefault(record.name, ActiveRun(record, "grading"))
        live.record, live.phase, live.tries = record, "grading", 0

        def graded(result: tuple[RunRecord, Any]) -> None:
            self.settled(live, *result)

        self.stepper.do(live, self._graders, partial(self.steps.grade, record), graded)

    def settled(self, live: ActiveRun, record: RunRecord, report: Any | None = None) -> None:
        self.live.pop(record.name, None)
        self.outcome.counts[record.state] += 1
        self.display.changed(record, report)

    def settle(self, record: RunRecord, state: str, reason: str) -> None:
        """Cancel or fail a run that is not at work."""
        live = self.live.setdefault(record.name, ActiveRun(record, "settling"))
        live.phase = "settling"
        step = partial(self.steps.settle, record, state, reason)
        self.stepper.do(live, self._finishers, step, partial(self.settled, live))

    def again(self, record: RunRecord) -> None:
        """Begin a run anew that had failed or was cancelled."""
        live = self.live[record.name] = ActiveRun(record, "settling")

        def begun(fresh: RunRecord) -> None:
            self.live.pop(fresh.name, None)
            self.outcome.counts[record.state] -= 1
            self.backlog.add(fresh.label, fresh.competition, fresh)
            self.display.changed(fresh, None)

        self.stepper.do(live, self._finishers, partial(self.steps.again, record), begun)

    def cancel(self, live: ActiveRun) -> None:
        """End a run that begins or is at work; what it left is kept, not graded."""
        live.cancel = True
        if live.phase == "running":
            self._stop(live)

    def take(self, planned: PlannedRun) -> RunRecord | None:
        """A run that waits, out of its turn."""
        record = self.backlog.take(planned.agent.label, planned.competition, planned.name)
        return record or self.retrying.pop(planned.name, None)

    def clear(self, handle: Handle) -> None:
        """End and remove a job that belongs to no run any more."""
        self.journal.note("cleared", job=handle.name)

        def end() -> None:
            self.experiment.backend.stop(handle, 0.0)
            self.steps.remove(handle)

        self.ask(end, lambda result, error: None)

    def ask(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Something of the place, in a worker."""
        self._finishers.submit(function, done)

    # Runs that begin.

    def _fill(self, now: float) -> None:
        if not self.backlog.length or not self.start_new or self.searching:
            return
        self._measure(now)
        self.provision.ask()
        at_work = Counter(live.record.label for live in self.live.values() if live.phase != "grading")
        while self.backlog.length and at_work.total() < self._slots and self._graders.busy < 64:
            record = self.backlog.pop(at_work, self.provision.ready)
            if record is None:
                return
            at_work[record.label] += 1
            self.begin(record)

    def _measure(self, now: float) -> None:
        """What the place can give changes, as others use it too; asked in a worker after the first time."""
        if now < self._next_capacity or self.provision.finished.issuperset(self.experiment.agents):
            self._slots = self._slots or self.experiment.plan.max_parallel or 16
            return
        self._next_capacity = now + 60.0

        def measured(capacity: Any, error: BaseException | None) -> None:
            if error is None:
                self._slots, bound = at_once(capacity, self.experiment.plan.limits, self.experiment.plan.max_parallel)
                if not self._slots:
                    self.say(f"no run fits this place now: {bound}", every=600)
            elif isinstance(error, BackendError):
                self._next_capacity = time.monotonic() + self.timing.step_first
                self.say(f"backend {self.experiment.plan.backend}: {error}", every=300)
            elif not isinstance(error, Interrupted):
                raise error

        self._pollers.submit(self.experiment.backend.capacity, measured)

    def begin(self, record: RunRecord) -> None:
        """A run whose turn has come, or one that a controller before us was about to start."""
        live = self.live[record.name] = ActiveRun(record, "starting")

        def begun(result: tuple[RunRecord, Any]) -> None:
            live.record, job = result
            self.display.changed(live.record, None)
            if job is None:
                self.grade(live.record)
            else:
                self.stepper.do(live, self._starters, partial(self.steps.launch, live.record, job), self.watch)

        self.stepper.do(live, self._starters, partial(self.steps.begin, record), begun)
