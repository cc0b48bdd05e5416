"""When the backend is asked how its jobs are: often for young ones, seldom for old ones, never twice at a time."""

from __future__ import annotations

import math
import time

import pytest

from mlecore.backends import Handle, JobStatus
from mlecore.controller.polling import Polling
from mlecore.controller.reporter import Reporter
from mlecore.controller.state import ActiveRun, GroupResult, Timing
from mlecore.controller.workers import Background
from mlecore.errors import BackendUnreachable
from mlecore.registry.provenance import PluginUse
from mlecore.runs.journal import Journal
from mlecore.runs.record import Attempt, RunRecord


class Backend:
    def __init__(self) -> None:
        self.asked: list[list[Handle]] = []
        self.error: Exception | None = None

    def status(self, handles):
        self.asked.append(list(handles))
        if self.error:
            raise self.error
        return {handle: JobStatus(phase="running") for handle in handles}


@pytest.fixture
def backend():
    return Backend()


@pytest.fixture
def said():
    return []


@pytest.fixture
def polling(backend, said, tmp_path):
    class Display:
        say = staticmethod(said.append)

    background = Background(poll=1)
    reporter = Reporter(Display(), Journal(tmp_path), GroupResult())
    polling = Polling("b", backend, background, reporter, Timing())
    polling.ask_and_wait = lambda runs, seen: (polling.ask(runs, seen), background.wait(time.monotonic() + 10))
    return polling


def run(name: str, age: float) -> ActiveRun:
    use = PluginUse(name="x")
    attempts = (Attempt(number=1, job=name, handle=Handle(name=name, id=name)),)
    record = RunRecord(
        uid=name, name=name, group="g", group_uid="g", competition="c", agent=use, backend=use, attempts=attempts
    )
    return ActiveRun(record, "running", watched_since=time.monotonic() - age)


def test_the_youngest_job_decides(polling):
    runs, timing, seen = [run("old", 1e6), run("middle", 20.0)], Timing(), []
    assert polling.due([]) == math.inf and polling.due(runs) <= time.monotonic()
    polling.ask_and_wait(runs, lambda run, status: seen.append((run.record.name, status.phase)))
    assert seen == [("old", "running"), ("middle", "running")]
    wait = polling.due(runs) - time.monotonic()
    assert wait == pytest.approx(20.0 * timing.poll_share, abs=0.5)
    assert polling.due(runs[:1]) - time.monotonic() == pytest.approx(timing.poll_max, abs=0.5)
    fresh = run("fresh", 0.0)
    assert polling.due([*runs, fresh]) == pytest.approx(fresh.watched_since + timing.poll_min)


def test_one_question_at_a_time(polling, backend):
    runs = [run("a", 1.0)]
    polling.ask(runs, lambda run, status: None)
    assert polling.due(runs) == math.inf


def test_a_backend_that_does_not_answer_is_reported_once_each_way(polling, backend, said):
    runs = [run("a", 1.0)]
    backend.error = BackendUnreachable("the line is dead")
    for _ in range(3):
        polling.ask_and_wait(runs, lambda run, status: pytest.fail("nothing was seen"))
        assert polling.due(runs) - time.monotonic() > Timing().step_delay - 0.5
    backend.error = None
    polling.ask_and_wait(runs, lambda run, status: None)
    assert said == [
        "backend b does not answer: the line is dead; its runs go on, asking again",
        "backend b answers again",
    ]
