"""When the backend is asked how its jobs are: often for young ones, seldom for old ones, never twice at a time."""

from __future__ import annotations

import math
import time

import pytest

from mlecore.backends import Handle, JobStatus
from mlecore.controller.polling import Polling
from mlecore.controller.reporting import GroupResult, Reporter
from mlecore.controller.tasks import Tasks
from mlecore.controller.timing import Timing
from mlecore.runs.journal import Journal

TIMING = Timing()


class Backend:
    def __init__(self) -> None:
        self.asked: list[list[Handle]] = []
        self.error: Exception | None = None

    def status(self, handles):
        self.asked.append(list(handles))
        if self.error:
            raise self.error
        return {handle: JobStatus(phase="running") for handle in handles}


class Lab:
    """A backend, its polling, and jobs that are watched without end."""

    def __init__(self, folder) -> None:
        self.said, self.seen, self.backend, self.tasks = [], [], Backend(), Tasks(poll=1)
        reporter = Reporter(self, Journal(folder), GroupResult())
        self.polling = Polling("b", self.backend, self.tasks, reporter, TIMING)

    def say(self, text: str) -> None:
        self.said.append(text)

    def watch(self, name: str, age: float) -> float:
        """Watch a job; returns since when (monotonic)."""
        since = time.monotonic() - age
        self.tasks.begin(self._watch(Handle(name=name, id=name), since))
        return since

    async def _watch(self, handle: Handle, since: float) -> None:
        while True:
            status = await self.polling.status(handle, since)
            self.seen.append((handle.name, status.phase))

    def ask(self) -> None:
        self.tasks.begin(self.polling.ask())
        self.tasks.wait(time.monotonic() + 10)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def test_the_youngest_job_decides(lab):
    assert lab.polling.due == math.inf
    lab.watch("old", 1e6)
    assert lab.polling.due <= time.monotonic()
    lab.ask()
    assert lab.polling.due - time.monotonic() == pytest.approx(TIMING.poll_max, abs=0.5)
    lab.watch("middle", 20.0)
    lab.ask()
    assert lab.seen == [("old", "running"), ("old", "running"), ("middle", "running")]
    assert lab.polling.due - time.monotonic() == pytest.approx(20.0 * TIMING.poll_share, abs=0.5)
    since = lab.watch("fresh", 0.0)
    assert lab.polling.due == pytest.approx(since + TIMING.poll_min)


def test_a_job_that_the_backend_leaves_out_is_asked_for_again(lab):
    lab.watch("a", 1.0)
    status, lab.backend.status = lab.backend.status, lambda handles: {}
    lab.ask()
    assert lab.seen == [] and lab.polling.due < math.inf
    lab.backend.status = status
    lab.ask()
    assert lab.seen == [("a", "running")]
