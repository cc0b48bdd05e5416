"""A job that its backend has wait: the run says why, and no clock runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.errors import BackendUnreachable
from mlecore.model.record import RunRecord, moment
from mlecore.runs.lock import GroupLock
from mlecore.runs.requests import leave
from mlecore.runs.store import load_group
from mlecore.runs.waiting import FILE, write_reasons

NAME = "worker--coins--0"


@pytest.fixture
def waiting(lab: Any) -> Path:
    """A group of one run for which there is no room."""
    lab.timing = evolve(lab.timing, pending=0.05, stuck=0.2)
    lab.make(("worker", {"seconds": "0.5"}))
    (lab.backend_root / "pending").write_text("2 jobs are ahead of it")
    return lab.backend_root / "pending"


def test_it_waits_without_a_clock_and_then_runs(lab: Any, waiting: Path) -> None:
    seen: list[RunRecord] = []

    def look(record: RunRecord) -> None:
        (on_disk,) = load_group(lab.group.folder)
        seen.append(on_disk)
        waiting.unlink()

    lab.display.on["waiting"] = look
    assert lab.run().complete
    (found,), (record,) = seen, load_group(lab.group.folder)
    assert (found.state, found.reason) == ("waiting", "2 jobs are ahead of it")
    assert found.attempt and found.attempt.started_at is None and found.elapsed(moment(record.created_at)) is None
    assert record.state == "graded" and record.reason == "" and record.attempt and record.attempt.started_at
    told = [state for _, state in lab.display.changes]
    assert told == ["starting", "waiting", "running", "collected", "graded"]


def test_a_run_whose_backend_does_not_answer_says_so(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.make(("worker", {"seconds": "0.1"}))
    outputs: list[list[str]] = []

    def away(controller: Any) -> None:
        status, tick = controller.experiment.backend.status, lab.display.tick

        def asked(handles: Any) -> Any:
            if load_group(lab.group.folder)[0].state == "running" and not outputs:
                raise BackendUnreachable("the engine is gone")
            return status(handles)

        def ticked(*args: Any) -> None:
            tick(*args)
            if (lab.group.folder / FILE).exists() and "gone" in (lab.group.folder / FILE).read_text():
                outputs.append(shown(lab))

        monkeypatch.setattr(controller.experiment.backend, "status", asked)
        lab.display.tick = ticked

    assert lab.run(away).complete
    assert all("the engine is gone" in output for output in outputs[0])
    assert load_group(lab.group.folder)[0].reason == ""


def test_what_does_not_come_by_itself_fails_the_run(lab: Any, waiting: Path) -> None:
    waiting.write_text("stuck: there is no image lab/agent:1; push it")
    outcome = lab.run()
    (record,) = load_group(lab.group.folder)
    assert record.state == "failed" and outcome.counts["failed"] == 1
    assert record.reason == "it cannot start: there is no image lab/agent:1; push it"
    assert len(record.attempts) == 1 and not list((lab.backend_root / "jobs").iterdir())


def test_the_next_controller_waits_on(lab: Any, waiting: Path) -> None:
    with GroupLock(lab.group.folder) as lock:
        controller = lab.controller(lock)
        lab.display.on["waiting"] = lambda record: controller.stop()
        assert controller.run().interrupted
    shown = CliRunner().invoke(main, ["runs", "list", "g", "--runs", str(lab.runs)]).output
    assert "waiting" in shown and "2 jobs are ahead of it" in shown and "0s in all" in shown
    watched = CliRunner().invoke(main, ["runs", "watch", "g", "--once", "--runs", str(lab.runs)]).output
    assert "1 run waiting: 2 jobs are ahead of it" in watched
    assert "No controller is running for it: mlecore runs resume g --runs" in watched
    shown = CliRunner().invoke(main, ["runs", "show", "g", "--runs", str(lab.runs)]).output
    assert "-1, waiting" in shown  # its job, without a date
    waiting.unlink()
    assert lab.run().complete
    assert load_group(lab.group.folder)[0].state == "graded"


def test_a_waiting_run_is_cancelled(lab: Any, waiting: Path) -> None:
    lab.display.on["waiting"] = lambda record: leave(lab.group.folder, NAME, "cancel")
    lab.run()
    (record,) = load_group(lab.group.folder)
    assert record.state == "cancelled" and not list((lab.backend_root / "jobs").iterdir())


def test_preemptions_use_up_no_retries(lab: Any) -> None:
    (lab.backend_root / "preempts").touch()
    lab.make(("worker", {"faults": "5"}), execution={"retries": 1})
    assert lab.run().complete
    (record,) = load_group(lab.group.folder)
    assert record.state == "graded" and [attempt.preempted for attempt in record.attempts] == [True] * 5 + [False]


def test_a_network_limit_that_nothing_enforces_is_told_once(lab: Any) -> None:
    (lab.backend_root / "no-door").touch()
    lab.make(("worker", {}), seeds=3)
    assert lab.run().complete
    warnings = [words for words in lab.display.said if "not enforced" in words]
    assert warnings == ["warning: network=none is not enforced here (no door): runs can reach other hosts"]


def shown(lab: Any) -> list[str]:
    """What list, show and watch say of the run, while its controller is active."""
    runs = ["--runs", str(lab.runs)]
    commands = (["list", "g"], ["show", f"g/{NAME}"], ["watch", "g", "--once"])
    return [CliRunner().invoke(main, ["runs", *command, *runs]).output for command in commands]


def test_reasons_of_a_controller_that_is_gone_do_not_count(lab: Any) -> None:
    lab.make(("worker", {}))
    write_reasons(lab.group.folder, {("worker", "coins"): "its image is being built"})
    assert load_group(lab.group.folder)[0].reason == ""
    with GroupLock(lab.group.folder):
        assert load_group(lab.group.folder)[0].reason == "its image is being built"
        (lab.group.folder / FILE).write_text('{"no": 1}')
        assert load_group(lab.group.folder)[0].reason == ""
