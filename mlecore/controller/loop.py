"""The loop that takes every run of a group to its end.

It admits runs and answers requests, in one thread; the life of a run is in `run`, a coroutine for each, and what blocks
is done in other threads (`tasks`).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from attrs import evolve

from mlecore.controller.capacity import Slots
from mlecore.controller.context import Context, Timing
from mlecore.controller.detection import Detection
from mlecore.controller.experiment import Experiment
from mlecore.controller.extensions import Extensions
from mlecore.controller.poll import Polling
from mlecore.controller.provisions import Provisions
from mlecore.controller.queue import Backlog
from mlecore.controller.records import RecordWriter
from mlecore.controller.recovery import has_started, list_jobs, owners, recover
from mlecore.controller.reporting import Display, GroupResult, Reporter
from mlecore.controller.roster import Roster
from mlecore.controller.run import RunLife
from mlecore.controller.tasks import Tasks
from mlecore.errors import DataError
from mlecore.runs import requests
from mlecore.runs.cancelled import read_cancelled
from mlecore.runs.journal import Journal
from mlecore.runs.lock import GroupLock
from mlecore.runs.store import Group, load_group, planned_record, require_group
from mlecore.runs.waiting import AT_WORK, Reasons, write_reasons
from mlecore.util.units import counted
from mlecore_jobs import spare

_UNGRADED = 64  # runs that wait for a grader; beyond it nothing new starts


class Controller:
    """Runs a group until all of it is at its end, or ``stop`` is called. The caller holds the group's lock."""

    def __init__(
        self,
        group: Group,
        experiment: Experiment,
        lock: GroupLock,
        display: Display,
        timing: Timing | None = None,
        finished_agents: frozenset[str] = frozenset(),
        start_new: bool = True,
    ) -> None:
        """``finished_agents``: labels of those that start nothing (see preflight). ``start_new`` False: no run begins;
        those that have begun are finished, and requests are answered."""
        # read again, now that the lock is held: the controller before may have cancelled more
        self.group = group = evolve(group, cancelled=read_cancelled(group.folder))
        self.experiment = experiment
        self.lock = lock
        self.start_new = start_new
        self.timing = timing or Timing()
        journal = Journal(group.folder, partial(require_group, group))
        self.reporter = Reporter(display, journal)
        self.result = self.reporter.result
        # stopping waits for as long as an agent's grace: a thousand runs that are cancelled must not take hours
        graders = min(4, os.cpu_count() or 1)
        self.tasks = Tasks(start=4, stop=32, finish=4, grade=graders, provide=2, poll=1, detect=1)
        self.extensions = Extensions(group.folder, journal, experiment.extensions)
        self.context = Context(
            group=group,
            experiment=experiment,
            records=RecordWriter(group, journal),
            extensions=self.extensions,
            reporter=self.reporter,
            tasks=self.tasks,
            timing=self.timing,
        )
        self.provisions = Provisions(self.context, finished_agents)
        self.polling = Polling(self.context)
        self.slots = Slots(self.context, needed=not finished_agents >= experiment.agents.keys())
        self.detection = Detection(self.context)
        self.backlog = Backlog(
            partial(planned_record, group),
            sizes={id: inputs.facts.size_gb or 0.0 for id, inputs in experiment.inputs.items()},
            limits={agent.label: experiment.plan.limits_of(agent).time for agent in experiment.plan.agents},
        )
        self.roster = Roster(RunLife(self.context, self.provisions, self.polling), self.backlog, self.detection)
        self._next_requests = 0.0
        self._finding_jobs = False  # nothing new begins before it is known which jobs the backend has
        self._stopping = False
        self._reasons: Reasons | None = None  # as the group's folder has them; None: those of a controller before
        self._only: frozenset[str] | None = None  # the runs that are dealt with; None: all

    def stop(self) -> None:
        """Begin nothing more and leave; running runs continue. May be called from a signal handler."""
        self._stopping = True

    def run(self, only: frozenset[str] | None = None) -> GroupResult:
        """All runs, or those named. Raises LockLost; other errors are reported, and resuming continues."""
        self._only = only
        try:
            self._recover(only)
            self._answer_requests()
            self.detection.begin()
            spare.keep(self.group.folder)  # room for records and requests on a full disk
            with suppress(OSError):
                requests.prepare(self.group.folder)
            while not self._stopping and not self._done():
                self._turn()
            if self._stopping:
                self.result.interrupted = True
                self.tasks.drain(self.timing.drain)  # killed in the middle, steps would be repeated
            self._explain({})
        finally:
            self.context.records.closed = True  # a remaining thread must not write while another controller does
            self.detection.close()
        if left := self.extensions.close(self.timing.drain if self._stopping else self.timing.deliver):
            resume = f"`mlecore runs resume {self.group.name}`"
            self.reporter.say(f"extensions have not taken {counted(left, 'event')} yet: {resume} delivers the rest")
        return self.result

    def _recover(self, only: frozenset[str] | None) -> None:
        """Continue where another controller left off."""
        started = has_started(self.context)
        recover(self.context, self.roster, only, self.lock.beat)
        if started:
            self.tasks.begin(self._find_jobs(only))

    async def _find_jobs(self, only: frozenset[str] | None) -> None:
        self._finding_jobs = True
        jobs = await list_jobs(self.context)
        self._finding_jobs = False
        for planned, number, handle in owners(self.group, jobs, only):
            self.roster.claim(planned, number, handle)

    def _done(self) -> bool:
        if not self._finished() or self.detection.conclude():
            return False
        self._answer_requests()  # those of the last moment: nobody else would
        return self._finished()

    def _finished(self) -> bool:
        begins = self.backlog.length and self.start_new
        busy = self.tasks.busy("start", "stop", "finish", "grade", "provide", "detect")
        return not (begins or self.roster.unsettled or busy)

    def _turn(self) -> None:
        self.lock.beat()
        if time.monotonic() >= self._next_requests:
            self._answer_requests()
        if time.monotonic() >= self.polling.due:
            self.tasks.begin(self.polling.ask())
        self._admit()
        self._explain(self._waiting_for())
        self.reporter.display.tick(self.roster.active.values(), self.result.counts, self.roster.waiting)
        # last, so that the first turn starts runs at once
        self.tasks.wait(min(time.monotonic() + 1.0, self._next_requests, self.polling.due))

    def _answer_requests(self) -> None:
        self._next_requests = time.monotonic() + self.timing.requests
        asked = requests.pending(self.group.folder)
        try:
            self._take_in(asked)
        except (OSError, DataError):  # the disk is away: at the next check
            return
        self.roster.answer(asked)

    def _take_in(self, asked: Mapping[str, requests.Request]) -> None:
        """Runs that were not ours, and that something is asked of: no other controller can do it meanwhile."""
        if not asked or self._only is None:
            return
        names = {planned.name for planned in self.group.plan.runs()}
        more = (names if requests.ALL in asked else names & asked.keys()) - self._only
        if not more:
            return
        ended: set[str] = set()
        if requests.ALL in asked:  # what has ended is not cancelled
            ended = {record.name for record in load_group(self.group.folder) if record.settled}
        self._recover(frozenset(more - ended))
        self._only |= more

    def _admit(self) -> None:
        if not self.backlog.length or not self.start_new or self._finding_jobs:
            return
        self.slots.update()
        self._request_provisions()
        at_work = self.roster.at_work()
        while (labels := self.slots.free(at_work)) and self.tasks.busy("grade") < _UNGRADED:
            record = self.backlog.pop(at_work, lambda *pair, of=labels: pair[0] in of and self.provisions.ready(*pair))
            if record is None:
                return
            at_work[record.label] += 1
            self.roster.start(record)

    def _request_provisions(self) -> None:
        """Runs whose agent or data cannot be made ready stay planned: once the cause is fixed, they can be resumed."""
        blocked: Counter[str] = Counter()
        for pair in list(self.backlog.lines):
            if why := self.provisions.request(*pair):
                blocked[why] += self.backlog.drop(pair)
        for why, count in blocked.items():
            self.reporter.unfinished("blocked", f"{counted(count, 'run')} cannot start: {why}")

    def _waiting_for(self) -> Reasons:
        wanted = self.backlog.lines if self.start_new else ()
        reasons = {pair: self.provisions.reason(*pair) or self.slots.why.get(pair[0], "") for pair in wanted}
        starting = (run for run in self.roster.active.values() if run.phase == "starting" and run.trouble)
        reasons |= {(run.record.label, run.record.competition): run.trouble for run in starting}
        reasons[AT_WORK] = self.polling.failure
        return {pair: why for pair, why in reasons.items() if why}

    def _explain(self, reasons: Reasons) -> None:
        """For those who look at the group from outside. A disk that refuses it stops no run."""
        if reasons == self._reasons:
            return
        with suppress(OSError):
            require_group(self.group)
            write_reasons(self.group.folder, reasons)
            self._reasons = reasons
