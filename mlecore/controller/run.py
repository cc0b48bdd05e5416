"""One run, from the state in its record to its end: start, wait, collect, grade.

Each step blocks, is done in another thread, and can be repeated: a controller that died in one leaves a record from
which the next controller continues here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from attrs import evolve, frozen

from mlecore.controller.experiment import Missing
from mlecore.controller.finishing import Finishing
from mlecore.controller.grading import Grading
from mlecore.controller.polling import Polling
from mlecore.controller.records import FolderGone, Records
from mlecore.controller.reporting import ActiveRun, Display, Reporter, explain
from mlecore.controller.starting import Starting
from mlecore.controller.tasks import Pool, Tasks
from mlecore.controller.timing import Timing, retry_delay
from mlecore.errors import BackendUnreachable
from mlecore.model.backends import Handle, JobStatus
from mlecore.model.record import RunRecord
from mlecore.runs.journal import now
from mlecore.runs.lock import LockLost

if TYPE_CHECKING:
    from mlecore.model.report import Report

T = TypeVar("T")


class NeverStarts(Exception):
    """The backend has its job wait for something that does not come by itself; the message says for what."""


class GivenUp(Exception):
    """A step failed, and repeating it does not help."""

    def __init__(self, error: Exception) -> None:
        super().__init__(explain(error))
        self.error = error


@frozen(kw_only=True, eq=False)
class RunLife:
    """The life of each run, as coroutines for the loop's thread.

    They return whether they came to their end. If not, the run stays as its record says, and the reason was reported.
    """

    records: Records
    starting: Starting
    finishing: Finishing
    grading: Grading
    polling: Polling
    tasks: Tasks
    reporter: Reporter
    display: Display
    timing: Timing

    async def complete(self, run: ActiveRun) -> bool:
        """Take a run to its end, or back to ``planned`` after an infrastructure failure."""
        try:
            if run.record.state in ("planned", "starting"):
                await self._start(run)
            if run.record.state in ("waiting", "running", "collecting"):
                await self._collect(run, await self._job_end(run))
            if run.record.state in ("collected", "graded"):  # graded, but its grade.json is gone
                await self._grade(run)
        except NeverStarts as error:
            assert run.record.attempt and run.record.attempt.handle
            self.remove_job(run.record.attempt.handle)
            run.record = run.record.with_attempt(ended_at=now(), reason=str(error))
            return await self.close(run, "failed", f"it cannot start: {error}")
        except (GivenUp, FolderGone) as error:
            self._leave(run, error)
            return False
        return True

    async def close(self, run: ActiveRun, state: Literal["cancelled", "failed"], reason: str) -> bool:
        """Cancel or fail a run that has no job."""
        return await self._rewrite(run, partial(self.records.close, run.record, state, reason))

    async def plan_again(self, run: ActiveRun) -> bool:
        """Take a run that has ended back to ``planned``, because a retry was requested."""
        return await self._rewrite(run, partial(self.records.plan_again, run.record))

    # Its steps.

    async def _start(self, run: ActiveRun) -> None:
        """Have the backend start its job; finished files are collected at once, without a job."""
        run.phase = "starting"
        try:
            run.record, job = await self._step(run, "start", partial(self.starting.begin, run.record))
            self._changed(run)
            if job is not None:
                run.record = await self._step(run, "start", partial(self.starting.launch, run.record, job))
        except GivenUp as failure:
            if isinstance(failure.error, Missing):
                raise
            run.phase = "closing"
            close = partial(self.records.close, run.record, "failed", str(failure))
            run.record = await self._step(run, "finish", close)
            self._changed(run)

    async def _job_end(self, run: ActiveRun) -> JobStatus:
        """Wait for the end of its job; stop the job if the run is cancelled or far beyond its time limit."""
        assert run.record.attempt and run.record.attempt.handle
        run.phase = "waiting" if run.record.state == "waiting" else "running"
        watched_since = run.running_since = stuck_since = time.monotonic()
        longest = run.record.limits.time + run.record.grace + self.timing.overdue
        if run.cancelled:
            self._stop(run)
        while True:
            status = await self.polling.status(run.record.attempt.handle, watched_since)
            if status.phase in ("exited", "gone"):
                return status
            if status.phase == "pending":
                run.running_since = time.monotonic()
                if time.monotonic() - watched_since > self.timing.pending:
                    await self._waits(run, status.reason or "the backend has not started it yet")
                stuck_since = stuck_since if status.stuck else time.monotonic()
                if time.monotonic() - stuck_since > self.timing.stuck:
                    raise NeverStarts(status.reason)
                continue
            if run.record.state == "waiting":
                await self._runs(run)
            if run.phase == "running" and time.monotonic() - run.running_since > longest:
                self.reporter.say(f"{run.record.name} is far beyond its time limit: stopping it from here")
                self._stop(run)

    async def _waits(self, run: ActiveRun, reason: str) -> None:
        """Its job has been accepted and does not run yet."""
        if run.phase == "running":
            run.phase = "waiting"
        if run.record.state == "waiting" and run.record.reason == reason:
            return
        is_news = run.record.state != "waiting" or _words(run.record.reason) != _words(reason)
        waiting = evolve(run.record.with_attempt(started_at=None), state="waiting", reason=reason)
        run.record = await self._step(run, "start", partial(self.records.write, waiting, why=reason))
        if is_news:  # another place in a queue is none
            self._changed(run)

    async def _runs(self, run: ActiveRun) -> None:
        """Its job waited, and runs now: its clock starts."""
        if run.phase == "waiting":
            run.phase = "running"
        running = evolve(run.record.with_attempt(started_at=now()), state="running", reason="")
        run.record = await self._step(run, "start", partial(self.records.write, running))
        self._changed(run)

    async def _collect(self, run: ActiveRun, status: JobStatus) -> None:
        """Fetch its files and judge how the attempt ended."""
        run.phase = "collecting"
        seconds = time.monotonic() - run.running_since
        finish = partial(self.finishing.finish, run.record, seconds=seconds, cancelled=run.cancelled)
        try:
            run.record = await self._step(run, "finish", partial(finish, status), unless_cancelled=True)
        except GivenUp as failure:
            if status.phase == "gone" or isinstance(failure.error, Missing):
                raise
            words = f"what it left cannot be fetched: {failure}"  # perhaps by its agent's doing
            lost = JobStatus(phase="gone", reason=words, in_doubt=not status.infra_failure)
            finish = partial(finish, lost, cancelled=run.cancelled)
            run.record = await self._step(run, "finish", finish)
        self._changed(run)

    async def _grade(self, run: ActiveRun) -> None:
        run.phase = "grading"
        run.record, report = await self._step(run, "grade", partial(self.grading.grade, run.record))
        self._changed(run, report)

    # Ending its job.

    def cancel(self, run: ActiveRun) -> None:
        """End a run that starts or is running; its files are kept, not graded."""
        run.cancelled = True
        if run.phase in ("waiting", "running"):
            self._stop(run)

    def _stop(self, run: ActiveRun) -> None:
        """End its job. Its end is then noticed like any other, perhaps before the backend has returned."""
        run.phase = "stopping"
        self.tasks.begin(self._stop_until_done(run))

    async def _stop_until_done(self, run: ActiveRun) -> None:
        while run.phase == "stopping":
            try:
                await self.tasks.call("stop", partial(self.finishing.stop, run.record))
                return
            except Exception as error:
                why = explain(error)
                self.reporter.say(f"{run.record.name} cannot be stopped: {why}; trying again", every=60)
            await self.tasks.sleep(5 * self.timing.step_delay)

    def remove_job(self, handle: Handle) -> None:
        """End and remove a job that no longer belongs to a run. If that fails, resuming the group finds it."""
        self.reporter.note("job removed", job=handle.name)
        self.tasks.begin(self._remove_job(handle))

    async def _remove_job(self, handle: Handle) -> None:
        with suppress(Exception):
            await self.tasks.call("stop", partial(self.finishing.remove_job, handle))

    # When a step fails.

    async def _step(self, run: ActiveRun, pool: Pool, function: Callable[[], T], unless_cancelled: bool = False) -> T:
        """Do a step in a thread, again and again while it fails and that may help. Raises GivenUp, FolderGone."""
        tries = 0
        while True:
            try:
                done = await self.tasks.call(pool, function)
                run.trouble = ""
                return done
            except (LockLost, FolderGone):
                raise
            except Exception as error:
                tries += 1
                there = partial(self.grading.answers_are_there, run.record)
                delay = retry_delay(error, tries, self.timing, starting=run.phase == "starting", answers_there=there)
                if delay is None or (unless_cancelled and run.cancelled):
                    raise GivenUp(error) from error
                self._report_retry(run, error, tries)
                run.trouble = explain(error)
            await self.tasks.sleep(delay)

    def _report_retry(self, run: ActiveRun, error: Exception, tries: int) -> None:
        name, why = run.record.name, explain(error)
        if isinstance(error, BackendUnreachable):
            self.reporter.say(f"runs cannot go on yet, asking again: {why}", every=300)
        else:
            self.reporter.say(f"{name}: {run.phase}: {why}; trying again, nothing is lost", every=60)
        if tries < self.timing.step_tries:
            self.reporter.note("step failed", name, step=run.phase, why=why)

    def _leave(self, run: ActiveRun, error: GivenUp | FolderGone) -> None:
        """A run cannot go on now: it stays as its record says, and resuming tries again."""
        name, attempt = run.record.name, run.record.attempt
        if isinstance(error, GivenUp):
            step = "not graded" if run.phase == "grading" else run.phase
            self.reporter.unfinished("left", f"{step}: {error}", name, step=run.phase)
            return
        words = "its folder was deleted; its job is stopped, and resuming starts it again"
        self.reporter.unfinished("folder deleted", words, name)
        if attempt and attempt.handle and run.phase != "grading":
            self.remove_job(attempt.handle)

    async def _rewrite(self, run: ActiveRun, write: Callable[[], RunRecord]) -> bool:
        run.phase = "closing"
        try:
            run.record = await self._step(run, "finish", write)
        except (GivenUp, FolderGone) as error:
            self._leave(run, error)
            return False
        self._changed(run)
        return True

    def _changed(self, run: ActiveRun, report: Report | None = None) -> None:
        self.display.changed(run.record, report)


def _words(reason: str) -> str:
    return re.sub(r"\d+", "", reason)
