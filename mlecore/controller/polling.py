"""Asking the backend for the status of jobs: often while they are young, rarely when they are old."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

from mlecore.backends import Backend, Handle, JobStatus
from mlecore.controller.failures import describe
from mlecore.controller.reporter import Reporter
from mlecore.controller.state import ActiveRun, Timing
from mlecore.controller.workers import Background

Seen = Callable[[ActiveRun, JobStatus], None]


class Polling:
    """One request for all jobs, and never two at once. A backend that does not answer is asked again."""

    def __init__(self, name: str, backend: Backend, background: Background, reporter: Reporter, timing: Timing) -> None:
        self._name = name
        self._backend = backend
        self._background = background
        self._reporter = reporter
        self._timing = timing
        self._asking = False
        self._unreachable = False
        self._last = -math.inf  # when the backend last answered, or failed to

    def due(self, runs: Sequence[ActiveRun]) -> float:
        """When to ask next (monotonic): the youngest job decides."""
        if self._asking or not runs:
            return math.inf
        due = min(self._due(run.watched_since) for run in runs)
        return max(due, self._last + self._timing.step_delay) if self._unreachable else due

    def _due(self, since: float) -> float:
        timing, age = self._timing, max(0.0, self._last - since)
        return max(self._last, since) + min(max(age * timing.poll_share, timing.poll_min), timing.poll_max)

    def ask(self, runs: Sequence[ActiveRun], seen: Seen) -> None:
        """Call ``seen`` for every run in the backend's answer."""
        self._asking = True
        by_handle = {run.record.attempt.handle: run for run in runs if run.record.attempt and run.record.attempt.handle}
        question = partial(self._backend.status, list(by_handle))
        self._background.submit("poll", question, partial(self._answered, by_handle, seen), self._failed)

    def _answered(self, by_handle: dict[Handle, ActiveRun], seen: Seen, statuses: dict[Handle, JobStatus]) -> None:
        self._asking, self._last = False, time.monotonic()
        if self._unreachable:
            self._unreachable = False
            self._reporter.say(f"backend {self._name} answers again")
        for handle, status in statuses.items():
            if handle in by_handle:
                seen(by_handle[handle], status)

    def _failed(self, error: Exception) -> None:
        self._asking, self._last = False, time.monotonic()
        if not self._unreachable:
            self._unreachable = True
            self._reporter.say(f"backend {self._name} does not answer: {describe(error)}; its runs go on, asking again")
            self._reporter.note("backend unreachable", why=describe(error))
