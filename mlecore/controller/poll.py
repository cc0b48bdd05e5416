"""Asking the backend for the status of jobs: often while they are young, rarely when they are old."""

from __future__ import annotations

import math
import time
from functools import partial

from mlecore.controller.context import Context
from mlecore.controller.reporting import explain
from mlecore.controller.tasks import Promise
from mlecore.model.backends import Handle, JobStatus


class Polling:
    """One request for all jobs, and never two at once. A backend that does not answer is asked again."""

    def __init__(self, context: Context) -> None:
        self.failure = ""  # why the backend did not answer the last time
        self._context = context
        self._waiting: dict[Handle, tuple[float, Promise[JobStatus]]] = {}
        self._asking = False
        self._last = -math.inf  # when the backend last answered, or failed to

    def status(self, handle: Handle, since: float) -> Promise[JobStatus]:
        """A job's status, by the next request. ``since``: when its run began to be watched (monotonic)."""
        promise: Promise[JobStatus] = Promise()
        self._waiting[handle] = since, promise
        return promise

    @property
    def due(self) -> float:
        """When to ask next (monotonic): the youngest job decides."""
        if self._asking or not self._waiting:
            return math.inf
        due = min(self._due(since) for since, _ in self._waiting.values())
        return max(due, self._last + self._context.timing.step_delay) if self.failure else due

    def _due(self, since: float) -> float:
        timing, age = self._context.timing, max(0.0, self._last - since)
        return max(self._last, since) + min(max(age * timing.poll_share, timing.poll_min), timing.poll_max)

    async def ask(self) -> None:
        """Send a request for all jobs whose status is awaited."""
        self._asking, waiting = True, dict(self._waiting)
        status = partial(self._context.experiment.backend.status, list(waiting))
        try:
            statuses = await self._context.tasks.call("poll", status)
        except Exception as error:
            self._answered(explain(error))
            return
        self._answered()
        for handle, found in statuses.items():
            if handle in waiting:
                del self._waiting[handle]
                waiting[handle][1].resolve(found)

    def _answered(self, failure: str = "") -> None:
        self._asking, self._last = False, time.monotonic()
        name, reporter = self._context.experiment.plan.backend.name, self._context.reporter
        if failure and not self.failure:
            reporter.say(f"backend {name} does not answer: {failure}; its runs continue, asking again")
            reporter.note("backend unreachable", why=failure)
        elif self.failure and not failure:
            reporter.say(f"backend {name} answers again")
        self.failure = failure
