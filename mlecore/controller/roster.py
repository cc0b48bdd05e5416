"""The runs of a group: those that wait, and those in progress. For the loop's thread alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from attrs import evolve

from mlecore.controller.detection import Detection
from mlecore.controller.grade import own_report
from mlecore.controller.queue import Backlog
from mlecore.controller.reporting import ActiveRun, explain
from mlecore.controller.run import RunLife
from mlecore.errors import DataError, GradingError
from mlecore.model.backends import Handle
from mlecore.model.plan import PlannedRun
from mlecore.model.record import Attempt, RunRecord
from mlecore.runs import requests
from mlecore.runs.cancelled import REASON, read_cancelled
from mlecore.runs.contents import check_run
from mlecore.runs.lock import LockLost
from mlecore.runs.store import planned_record, recover_record


class Roster:
    """Admits runs, cancels and retries them, and counts those that have ended."""

    def __init__(self, life: RunLife, backlog: Backlog, detection: Detection) -> None:
        self.active: dict[str, ActiveRun] = {}
        self.delayed: dict[str, RunRecord] = {}  # runs that wait for the time of their next attempt
        self.closing: set[str] = set()  # runs that have not begun and are being cancelled, all in one write
        self.backlog = backlog
        self._life = life
        self._detection = detection
        self._context, self._tasks = life.context, life.context.tasks
        self._reporter, self._counts = life.context.reporter, life.context.reporter.result.counts

    @property
    def waiting(self) -> int:
        return self.backlog.length + len(self.delayed)

    @property
    def unsettled(self) -> bool:
        """Do runs besides those of the backlog still have something before them?"""
        return bool(self.active or self.delayed or self.closing)

    def at_work(self) -> Counter[str]:
        """Label -> how many runs use the backend, or are about to."""
        return Counter(run.record.label for run in self.active.values() if run.phase != "grading")

    # Admitting.

    def resume(self, record: RunRecord) -> None:
        """Continue a run from the state in its record."""
        self._context.extensions.catch_up(record, partial(own_report, record))
        if record.state == "planned":
            self.backlog.add(record)
        elif not record.settled:
            self.start(record)
        elif record.state == "graded" and (why := _lacks_report(record)):
            self._reporter.say(f"{record.name}: {why}; grading it again")
            self.start(record)
        else:
            self.count(record)

    def count(self, record: RunRecord) -> None:
        """A run that had ended before."""
        self._counts[record.state] += 1
        self.backlog.ended(record)

    def start(self, record: RunRecord) -> None:
        """A run whose turn has come, or that another controller had begun."""
        self._tasks.begin(self._complete(self._activate(record)))

    def _activate(self, record: RunRecord) -> ActiveRun:
        run = self.active[record.name] = ActiveRun(record, "starting")
        return run

    async def _complete(self, run: ActiveRun) -> None:
        complete = await self._life.complete(run)
        self.active.pop(run.record.name)
        if not complete:
            return
        if run.record.state == "planned":
            await self._retry_later(run.record)
        else:
            self._ended(run.record)

    def _ended(self, record: RunRecord) -> None:
        self._counts[record.state] += 1
        if record.state == "graded":
            self.backlog.ended(record)
            self._detection.graded(record)

    async def _retry_later(self, record: RunRecord) -> None:
        """A new attempt after an infrastructure failure, each time after a longer delay."""
        self.delayed[record.name] = record
        failures, timing = len(record.attempts) - record.retry_from, self._context.timing
        delay = min(timing.attempt_delay * 2 ** (failures - 1), timing.attempt_delay_max)
        self._reporter.say(f"{record.name}: infrastructure failure: {record.reason}; a new attempt in {delay:.0f} s")
        await self._tasks.sleep(delay)
        if self.delayed.get(record.name) is record:  # not cancelled meanwhile
            del self.delayed[record.name]
            self.backlog.add(record)

    # Requests to cancel or retry runs. Each stays until it is fulfilled or refused; answering twice changes nothing.

    def answer(self, asked: Mapping[str, requests.Request]) -> None:
        """All requests that are ``asked``; those for runs that are not in the plan are ignored."""
        if not asked:
            return
        group = self._context.group
        everything, runs = requests.ALL in asked, list(group.plan.runs())
        default = "cancel" if everything else ""
        cancelling = self._cancel(run for run in runs if asked.get(run.name, default) == "cancel")
        if everything and not cancelling:
            with suppress(OSError):  # met again
                requests.remove(group.folder, requests.ALL)
        for planned in runs:
            request, refusal = asked.get(planned.name), ""
            if request == "cancel" and planned.name not in cancelling:
                refusal = "it has ended: there is nothing to cancel"
            elif request in ("retry", "force"):
                refusal = self._retry(planned, force=request == "force")
            if refusal:
                self._reporter.say(f"{planned.name}: {refusal}")
                self._reporter.note("request refused", planned.name, why=refusal)
                requests.remove(group.folder, planned.name)

    def _cancel(self, runs: Iterable[PlannedRun]) -> set[str]:
        """Cancel runs. Returns the names of those that are being cancelled now; the others have ended."""
        cancelling, unbegun = set(), []
        for planned in runs:
            run, name = self.active.get(planned.name), planned.name
            collecting = run and run.phase == "collecting" and run.trouble  # what it left finds no room, perhaps
            if run and (collecting or run.phase in ("starting", "waiting", "running", "stopping")):
                self._life.cancel(run)
            elif waiting := self.backlog.take(planned) or self.delayed.pop(name, None):
                if isinstance(waiting, RunRecord):
                    self._tasks.begin(self._close(self._activate(waiting)))
                else:
                    unbegun.append(name)
            elif name not in self.closing and not (run and (run.cancelled or run.phase == "closing")):
                continue
            cancelling.add(name)
        if unbegun:
            self._tasks.begin(self._cancel_unbegun(unbegun))
        return cancelling

    async def _close(self, run: ActiveRun) -> None:
        closed = await self._life.rewrite(run, partial(self._context.records.close, run.record, "cancelled", REASON))
        self.active.pop(run.record.name)
        if closed:
            self._ended(run.record)

    async def _cancel_unbegun(self, names: Sequence[str]) -> None:
        """Cancel runs that have no record."""
        self.closing.update(names)
        while True:
            try:
                await self._tasks.call("finish", partial(self._context.records.cancel_unbegun, names))
                break
            except LockLost:
                raise
            except OSError as error:
                self._reporter.say(f"runs cannot be cancelled: {explain(error)}; trying again", every=60)
            except Exception as error:
                self.closing.difference_update(names)
                self._reporter.unfinished("left", f"{len(names)} runs are not cancelled: {explain(error)}")
                return
            await self._tasks.sleep(5 * self._context.timing.step_delay)
        self.closing.difference_update(names)
        self._counts["cancelled"] += len(names)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        self._reporter.say(f"{REASON}: {', '.join(names[:3])}{more}")

    def _retry(self, planned: PlannedRun, force: bool) -> str:
        """Plan a run again that has ended. Returns why that cannot be; empty if it is being done, or will be.

        ``force``: also if it has a result, unless it is being graded or detectors are active: they write into its
        folder.
        """
        active = self.active.get(planned.name)
        if active and (active.phase == "closing" or (force and active.phase == "grading")):
            return ""
        if force and self._tasks.busy("detect"):
            return ""
        try:
            check_run(self._context.group.folder / planned.name)
            record = self._record(planned)
        except (DataError, OSError) as error:
            return f"its record cannot be read, so there is nothing to retry: {error}"
        if active or record.state not in ("failed", "cancelled", *(("graded",) if force else ())):
            others = "failed, cancelled and graded" if force else "failed and cancelled"
            return f"it is {record.state}: only {others} runs are retried"
        if record.imported_from:
            return f"it was imported from {record.imported_from}: mlecore cannot run it"
        self._tasks.begin(self._plan_again(self._activate(record)))
        return ""

    def _record(self, planned: PlannedRun) -> RunRecord:
        """Raises DataError, OSError; FileNotFoundError for a run without a record that was not cancelled."""
        group = self._context.group
        try:
            return recover_record(group.folder / planned.name)[0]
        except FileNotFoundError:
            if planned.name not in read_cancelled(group.folder):
                raise
            return evolve(planned_record(group, planned), state="cancelled")

    async def _plan_again(self, run: ActiveRun) -> None:
        ended = run.record
        planned = await self._life.rewrite(run, partial(self._context.records.plan_again, ended))
        self.active.pop(ended.name)
        if planned:
            self._counts[ended.state] -= 1
            self.backlog.add(run.record)

    # Jobs that no record knows.

    def claim(self, planned: PlannedRun, number: int, handle: Handle) -> None:
        """A job that the backend has for the ``number``-th attempt of a run.

        It is taken over if its run waits to begin: a controller died after it started the job. Else it is removed.
        """
        run = self.active.get(planned.name)
        current = run.record.attempt if run and run.phase not in ("grading", "closing") else None
        if current and current.job == handle.name:
            return
        taken = None if run else self.backlog.take(planned)
        waiting = self.backlog.record(taken) if taken else None
        if waiting and all(attempt.number < number for attempt in waiting.attempts):
            self._reporter.say(f"{planned.name}: the backend already has its job {handle.name}: taking it over")
            attempt = Attempt(number=number, job=handle.name)
            self.start(evolve(waiting, attempts=(*waiting.attempts, attempt), state="starting"))
            return
        if taken:
            self.backlog.add(taken)
        self._life.remove_job(handle)


def _lacks_report(record: RunRecord) -> str:
    """Why a graded run has to be graded again; empty if its grade.json is intact, or was never ours."""
    if record.imported_from:
        return ""
    try:
        own_report(record)
    except FileNotFoundError:
        return "its grade.json is gone"
    except GradingError as error:
        return error.message
    return ""
