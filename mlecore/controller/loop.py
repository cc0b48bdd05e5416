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

from mlecore.controller.answering import answer_requests
from mlecore.controller.capacity import Slots
from mlecore.controller.detection import Detection
from mlecore.controller.experiment import Experiment
from mlecore.controller.extensions import Extensions
from mlecore.controller.finishing import Finishing
from mlecore.controller.grading import Grading
from mlecore.controller.polling import Polling
from mlecore.controller.provisions import Provisions
from mlecore.controller.queue import Backlog
from mlecore.controller.records import Records
from mlecore.controller.recovery import find_runs, has_started, owners
from mlecore.controller.reporting import Display, GroupResult, Reporter, explain
from mlecore.controller.roster import Roster
from mlecore.controller.run import RunLife
from mlecore.controller.starting import Starting
from mlecore.controller.tasks import Tasks
from mlecore.controller.timing import Timing
from mlecore.detecting.judging import Judges
from mlecore.errors import BackendUnreachable, DataError
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
        plan, backend = experiment.plan, experiment.backend
        # read again, now that the lock is held: the controller before may have cancelled more
        self.group = group = evolve(group, cancelled=read_cancelled(group.folder))
        self.experiment = experiment
        self.lock = lock
        self.timing = timing or Timing()
        self.start_new = start_new
        self.result = GroupResult()
        journal = Journal(group.folder, partial(require_group, group))
        self.journal = journal
        self.reporter = Reporter(display, journal, self.result)
        graders = min(4, os.cpu_count() or 1)
        # stopping waits for as long as an agent's grace: a thousand runs that are cancelled must not take hours
        self.tasks = Tasks(start=4, stop=32, finish=4, grade=graders, provide=2, poll=1, detect=1)
        common = (self.tasks, self.reporter, self.timing)
        self.extensions = Extensions(group.folder, journal, experiment.extensions)
        self.provisions = Provisions(experiment, group.folder / "builds", *common, finished_agents)
        self.polling = Polling(plan.backend.name, backend, *common)
        self.slots = Slots(plan, None if finished_agents >= experiment.agents.keys() else backend, *common)
        self.records = Records(group, journal)
        self.backlog = Backlog(
            partial(planned_record, group),
            sizes={id: inputs.facts.size_gb or 0.0 for id, inputs in experiment.inputs.items()},
            limit=plan.limits.time,
        )
        judges = Judges(experiment.detectors, experiment.data, experiment.public_of)
        self.detection = Detection(judges, group.folder, self.tasks, self.reporter, self.extensions)
        life = RunLife(
            records=self.records,
            starting=Starting(self.records, experiment, self.extensions, self.provisions, self.reporter),
            finishing=Finishing(self.records, experiment, self.extensions),
            grading=Grading(self.records, experiment, self.extensions),
            polling=self.polling,
            tasks=self.tasks,
            reporter=self.reporter,
            display=display,
            timing=self.timing,
        )
        self.roster = Roster(life, self.backlog, self.detection, self.extensions, self.result)
        self.display = display
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
            self._keep_room()
            while not self._stopping and not self._done():
                self._turn()
            if self._stopping:
                self.result.interrupted = True
                self.tasks.drain(self.timing.drain)  # killed in the middle, steps would be repeated
            self._explain({})
        finally:
            self.records.closed = True  # a remaining thread must not write while another controller does
            self.detection.close()
        if left := self.extensions.close(self.timing.drain if self._stopping else self.timing.deliver):
            resume = f"`mlecore runs resume {self.group.name}`"
            self.reporter.say(f"extensions have not taken {counted(left, 'event')} yet: {resume} delivers the rest")
        return self.result

    def _keep_room(self) -> None:
        """For records and requests on a full disk."""
        spare.keep(self.group.folder)
        with suppress(OSError):
            requests.prepare(self.group.folder)

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
        self.display.tick(self.roster.active.values(), self.result.counts, self.roster.waiting)
        # last, so that the first turn starts runs at once
        self.tasks.wait(min(time.monotonic() + 1.0, self._next_requests, self.polling.due))

    def _answer_requests(self) -> None:
        self._next_requests = time.monotonic() + self.timing.requests
        asked = requests.pending(self.group.folder)
        try:
            self._take_in(asked)
        except (OSError, DataError):  # the disk is away: at the next check
            return
        answer_requests(asked, self.group, self.roster, self.reporter)

    def _take_in(self, asked: Mapping[str, requests.Request]) -> None:
        """Runs that were not ours, and that something is asked of: no other controller can do it meanwhile."""
        if not asked or self._only is None:
            return
        names = {planned.name for planned in self.group.plan.runs()}
        more = (names if requests.ALL in asked else names & asked.keys()) - self._only
        if not more:
            return
        if requests.ALL in asked:  # what has ended is not cancelled
            ended = {record.name for record in load_group(self.group.folder) if record.settled}
        else:
            ended = set()
        self._recover(frozenset(more - ended))
        self._only |= more

    def _admit(self) -> None:
        if not self.backlog.length or not self.start_new or self._finding_jobs:
            return
        self.slots.update()
        self._request_provisions()
        at_work = self.roster.at_work()
        while at_work.total() < self.slots.count and self.tasks.busy("grade") < _UNGRADED:
            record = self.backlog.pop(at_work, self.provisions.ready)
            if record is None:
                return
            at_work[record.label] += 1
            self.roster.start(record)

    def _waiting_for(self) -> Reasons:
        wanted = self.backlog.wanted() if self.start_new else []
        reasons = {pair: self.provisions.reason(*pair) or self.slots.why for pair in wanted}
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

    def _request_provisions(self) -> None:
        """Runs whose agent or data cannot be made ready stay planned: once the cause is fixed, they can be resumed."""
        blocked: Counter[str] = Counter()
        for label, competition in self.backlog.wanted():
            if why := self.provisions.request(label, competition):
                blocked[why] += self.backlog.drop(label, competition)
        for why, count in blocked.items():
            self.reporter.unfinished("blocked", f"{counted(count, 'run')} cannot start: {why}")

    # Where another controller left off.

    def _recover(self, only: frozenset[str] | None) -> None:
        started = has_started(self.group.folder)
        for found in find_runs(self.group, self.journal, only):
            self.lock.beat()
            if found.remark:
                self.reporter.say(found.remark)
                self.reporter.note("recovered", found.planned.name, why=found.remark)
            if found.problem:
                self.reporter.unfinished("left alone", found.problem, found.planned.name)
            elif found.ended:
                self.roster.count(found.ended)
            elif found.record:
                self.roster.resume(found.record)
            else:
                self.backlog.add(found.planned)
        if started:
            self.tasks.begin(self._find_jobs(only))

    async def _find_jobs(self, only: frozenset[str] | None) -> None:
        """Jobs without a record: a controller died between starting one and recording it."""
        backend, name = self.experiment.backend, self.experiment.plan.backend.name
        self._finding_jobs, jobs = True, None
        while jobs is None:
            try:
                jobs = await self.tasks.call("finish", partial(backend.list_jobs, self.group.info.uid))
            except (BackendUnreachable, OSError) as error:
                self.reporter.say(f"backend {name} does not answer: {error}; asking again", every=300)
                await self.tasks.sleep(self.timing.step_delay * 5)
            except Exception as error:
                jobs = {}
                self.reporter.say(f"backend {name} cannot list its jobs: {explain(error)}; continuing")
        self._finding_jobs = False
        for planned, number, handle in owners(self.group, jobs, only):
            self.roster.claim(planned, number, handle)
