"""One run, from the state in its record to its end: start, wait, collect, grade.

Each step blocks, is done in another thread, and can be repeated: a controller that died in one leaves a record from
which the next controller continues here.
"""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from attrs import evolve, frozen

from mlecore.controller import ending, grade, start
from mlecore.controller.context import Context, Timing
from mlecore.controller.experiment import Missing
from mlecore.controller.poll import Polling
from mlecore.controller.provisions import Provisions
from mlecore.controller.records import FolderGone
from mlecore.controller.reporting import ActiveRun, explain
from mlecore.controller.tasks import Pool
from mlecore.errors import BackendUnreachable, DiskError, GradingError
from mlecore.model.backends import Handle, JobStatus
from mlecore.model.record import RunRecord
from mlecore.runs.journal import now
from mlecore.runs.lock import LockLost

T = TypeVar("T")
_LASTING = {
    *(errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ELOOP),
    *(errno.ENAMETOOLONG, errno.ENOTDIR, errno.ENOTEMPTY),
}
"""Errors of the files there, not of the disk: another try would fail too."""


class NeverStarts(Exception):
    """The backend has its job wait for something that does not come by itself; the message says for what."""


class GivenUp(Exception):
    """A step failed, and repeating it does not help."""

    def __init__(self, error: Exception) -> None:
        super().__init__(explain(error))
        self.error = error


@frozen(eq=False)
class RunLife:
    """The life of each run, as coroutines for the loop's thread.

    They return whether they came to their end. If not, the run stays as its record says, and the reason was reported.
    """

    context: Context
    provisions: Provisions
    polling: Polling

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
            close = partial(self.context.records.close, run.record, "failed", f"it cannot start: {error}")
            return await self.rewrite(run, close)
        except (GivenUp, FolderGone) as error:
            self._leave(run, error)
            return False
        return True

    async def rewrite(self, run: ActiveRun, write: Callable[[], RunRecord]) -> bool:
        """Close a run that has no job, or plan it again: what ``write`` does to its record."""
        run.phase = "closing"
        try:
            run.record = await self._step(run, "finish", write)
        except (GivenUp, FolderGone) as error:
            self._leave(run, error)
            return False
        self.context.reporter.changed(run.record)
        return True

    # Its steps.

    async def _start(self, run: ActiveRun) -> None:
        """Have the backend start its job; finished files are collected at once, without a job."""
        run.phase = "starting"
        needed = self.context, self.provisions
        try:
            run.record, job = await self._step(run, "start", partial(start.begin, *needed, run.record))
            self.context.reporter.changed(run.record)
            if job is not None:
                run.record = await self._step(run, "start", partial(start.launch, *needed, run.record, job))
        except GivenUp as failure:
            if isinstance(failure.error, Missing):
                raise
            run.phase = "closing"
            close = partial(self.context.records.close, run.record, "failed", str(failure))
            run.record = await self._step(run, "finish", close)
            self.context.reporter.changed(run.record)

    async def _job_end(self, run: ActiveRun) -> JobStatus:
        """Wait for the end of its job; stop the job if the run is cancelled or far beyond its time limit."""
        assert run.record.attempt and run.record.attempt.handle
        timing = self.context.timing
        run.phase = "waiting" if run.record.state == "waiting" else "running"
        watched_since = run.running_since = stuck_since = time.monotonic()
        longest = run.record.limits.time + run.record.grace + timing.overdue
        if run.cancelled:
            self._stop(run)
        while True:
            status = await self.polling.status(run.record.attempt.handle, watched_since)
            if status.phase in ("exited", "gone"):
                return status
            if status.phase == "pending":
                run.running_since = time.monotonic()
                if time.monotonic() - watched_since > timing.pending:
                    await self._waits(run, status.reason or "the backend has not started it yet")
                stuck_since = stuck_since if status.stuck else time.monotonic()
                if time.monotonic() - stuck_since > timing.stuck:
                    raise NeverStarts(status.reason)
                continue
            if run.record.state == "waiting":
                await self._runs(run)
            if run.phase == "running" and time.monotonic() - run.running_since > longest:
                self.context.reporter.say(f"{run.record.name} is far beyond its time limit: stopping it from here")
                self._stop(run)

    async def _waits(self, run: ActiveRun, reason: str) -> None:
        """Its job has been accepted and does not run yet."""
        if run.phase == "running":
            run.phase = "waiting"
        if run.record.state == "waiting" and run.record.reason == reason:
            return
        is_news = run.record.state != "waiting" or _words(run.record.reason) != _words(reason)
        waiting = evolve(run.record.with_attempt(started_at=None), state="waiting", reason=reason)
        run.record = await self._step(run, "start", partial(self.context.records.write, waiting, why=reason))
        if is_news:  # another place in a queue is none
            self.context.reporter.changed(run.record)

    async def _runs(self, run: ActiveRun) -> None:
        """Its job waited, and runs now: its clock starts."""
        if run.phase == "waiting":
            run.phase = "running"
        running = evolve(run.record.with_attempt(started_at=now()), state="running", reason="")
        run.record = await self._step(run, "start", partial(self.context.records.write, running))
        self.context.reporter.changed(run.record)

    async def _collect(self, run: ActiveRun, status: JobStatus) -> None:
        """Fetch its files and judge how the attempt ended."""
        run.phase = "collecting"
        seconds = time.monotonic() - run.running_since
        finish = partial(ending.finish, self.context, run.record, seconds=seconds, cancelled=run.cancelled)
        try:
            run.record = await self._step(run, "finish", partial(finish, status), unless_cancelled=True)
        except GivenUp as failure:
            if status.phase == "gone" or isinstance(failure.error, Missing):
                raise
            words = f"what it left cannot be fetched: {failure}"  # perhaps by its agent's doing
            lost = JobStatus(phase="gone", reason=words, in_doubt=not status.infra_failure)
            finish = partial(finish, lost, cancelled=run.cancelled)
            run.record = await self._step(run, "finish", finish)
        self.context.reporter.changed(run.record)

    async def _grade(self, run: ActiveRun) -> None:
        run.phase = "grading"
        run.record, report = await self._step(run, "grade", partial(grade.grade, self.context, run.record))
        self.context.reporter.changed(run.record, report)

    # Ending its job.

    def cancel(self, run: ActiveRun) -> None:
        """End a run that starts or is running; its files are kept, not graded."""
        run.cancelled = True
        if run.phase in ("waiting", "running"):
            self._stop(run)

    def _stop(self, run: ActiveRun) -> None:
        """End its job. Its end is then noticed like any other, perhaps before the backend has returned."""
        run.phase = "stopping"
        self.context.tasks.begin(self._stop_until_done(run))

    async def _stop_until_done(self, run: ActiveRun) -> None:
        assert run.record.attempt and run.record.attempt.handle
        stop = partial(self.context.experiment.backend.stop, run.record.attempt.handle, run.record.grace)
        while run.phase == "stopping":
            try:
                await self.context.tasks.call("stop", stop)
                return
            except Exception as error:
                why = explain(error)
                self.context.reporter.say(f"{run.record.name} cannot be stopped: {why}; trying again", every=60)
            await self.context.tasks.sleep(5 * self.context.timing.step_delay)

    def remove_job(self, handle: Handle) -> None:
        """End and remove a job that no longer belongs to a run. If that fails, resuming the group finds it."""
        self.context.reporter.note("job removed", job=handle.name)
        self.context.tasks.begin(self._remove_job(handle))

    async def _remove_job(self, handle: Handle) -> None:
        with suppress(Exception):
            await self.context.tasks.call("stop", partial(ending.remove_job, self.context, handle))

    # When a step fails.

    async def _step(self, run: ActiveRun, pool: Pool, function: Callable[[], T], unless_cancelled: bool = False) -> T:
        """Do a step in a thread, again and again while it fails and that may help. Raises GivenUp, FolderGone."""
        tries = 0
        while True:
            try:
                done = await self.context.tasks.call(pool, function)
                run.trouble = ""
                return done
            except (LockLost, FolderGone):
                raise
            except Exception as error:
                tries += 1
                starting, there = run.phase == "starting", partial(self._answers_are_there, run.record)
                delay = retry_delay(error, tries, self.context.timing, starting=starting, answers_there=there)
                if delay is None or (unless_cancelled and run.cancelled):
                    raise GivenUp(error) from error
                self._report_retry(run, error, tries)
                run.trouble = explain(error)
            await self.context.tasks.sleep(delay)

    def _answers_are_there(self, record: RunRecord) -> bool:
        return bool((data := self.context.experiment.inputs[record.competition].data).sealed or data.private.is_dir())

    def _report_retry(self, run: ActiveRun, error: Exception, tries: int) -> None:
        name, why, reporter = run.record.name, explain(error), self.context.reporter
        if isinstance(error, BackendUnreachable):
            reporter.say(f"runs cannot go on yet, asking again: {why}", every=300)
        else:
            reporter.say(f"{name}: {run.phase}: {why}; trying again, nothing is lost", every=60)
        if tries < self.context.timing.step_tries:
            reporter.note("step failed", name, step=run.phase, why=why)

    def _leave(self, run: ActiveRun, error: GivenUp | FolderGone) -> None:
        """A run cannot go on now: it stays as its record says, and resuming tries again."""
        name, attempt = run.record.name, run.record.attempt
        if isinstance(error, GivenUp):
            step = "not graded" if run.phase == "grading" else run.phase
            self.context.reporter.unfinished("left", f"{step}: {error}", name, step=run.phase)
            return
        words = "its folder was deleted; its job is stopped, and resuming starts it again"
        self.context.reporter.unfinished("folder deleted", words, name)
        if attempt and attempt.handle and run.phase != "grading":
            self.remove_job(attempt.handle)


def retry_delay(
    error: Exception, tries: int, timing: Timing, *, starting: bool, answers_there: Callable[[], bool]
) -> float | None:
    """Seconds until a step is repeated, after its ``tries``-th failure; None: it is given up.

    Disk and backend are waited for as long as it takes, since they recover (a wrong file in the way does not); only a
    run that the disk keeps from ``starting`` is given up in the end. Everything else is tried a few times, if that can
    help.
    """

    def doubled(times: int) -> float:
        return min(timing.step_delay * 2.0 ** min(times, 20), timing.step_delay_max)

    if isinstance(error, Missing):
        return None
    if isinstance(error, BackendUnreachable):
        return doubled(tries - 1)
    if isinstance(error, DiskError) or (isinstance(error, OSError) and error.errno not in _LASTING):
        return None if starting and tries >= timing.start_tries else doubled(tries - 1)
    if starting or tries >= timing.step_tries:
        return None
    if isinstance(error, GradingError):
        # Missing answers may be back by now; a second error is for a person to fix.
        return doubled(2 * tries) if tries == 1 or not answers_there() else None
    return doubled(tries)


def _words(reason: str) -> str:
    return re.sub(r"\d+", "", reason)
