"""`mlecore runs cancel` and `retry` where no controller is active."""

from __future__ import annotations

from functools import partial

import pytest
from attrs import evolve

from mlecore.runs import requests
from mlecore.runs.lock import GroupLock
from mlecore.runs.planning import make_plan
from mlecore.runs.store import create_group, load_group


@pytest.fixture
def runs(cli):
    return partial(cli, "runs")


def states(folder) -> list[str]:
    return [record.state for record in load_group(folder)]


def test_nothing_to_do_is_reported(runs, lab):
    group = lab.make(("worker", {}))
    assert lab.run().complete
    code, output = runs("cancel", "g")
    assert code == 0 and "nothing to cancel" in output
    code, output = runs("cancel", "g/worker--coins--0")
    assert code == 2 and "is graded" in output and "mlecore runs show" in output
    assert not requests.pending(group.folder)


@pytest.fixture
def at_its_end(monkeypatch):
    """A request that is left when the first controller has looked for the last time, and still holds the lock."""
    release = GroupLock.release

    def leave(folder, run: str, request: requests.Request) -> None:
        def releasing(lock: GroupLock) -> None:
            monkeypatch.setattr(GroupLock, "release", release)
            requests.leave(folder, run, request)
            release(lock)

        monkeypatch.setattr(GroupLock, "release", releasing)

    return leave


def test_a_request_of_the_last_moment_is_answered(runs, lab, at_its_end):
    group = lab.make(("worker", {"faults": "9"}), seeds=2, execution={"retries": 0})
    lab.run()
    at_its_end(group.folder, "worker--coins--1", "cancel")
    _, output = runs("retry", "g/worker--coins--1")
    assert states(group.folder) == ["failed", "cancelled"] and not requests.pending(group.folder), output


@pytest.fixture
def with_missing(lab):
    """A group of which one agent and one competition are no longer installed."""
    plan = make_plan(
        {
            "agents": [{"name": "worker"}, {"name": "uninstalled"}],
            "competitions": ["coins", "nowhere"],
            "seeds": 1,
            "backend": {"name": "folders", "options": {"root": str(lab.backend_root)}},
            "execution": {"detect": False},
        }
    )
    return create_group(lab.runs, "g", plan, (str(lab.data),))


def test_what_is_not_installed_keeps_only_its_own_runs_from_being_resumed(runs, with_missing):
    code, output = runs("resume", "g")
    assert code == 3, output
    assert {record.name: record.state for record in load_group(with_missing.folder)} == {
        "worker--coins--0": "graded",
        "worker--nowhere--0": "planned",
        "uninstalled--coins--0": "planned",
        "uninstalled--nowhere--0": "planned",
    }
    assert "cannot start" in output and "'uninstalled'" in output and "'nowhere'" in output


def test_a_run_whose_competition_is_missing_stays_planned(lab):
    lab.make(("worker", {}), seeds=2)
    whole = lab.experiment()
    with GroupLock(lab.group.folder) as lock:
        lab.controller(lock).run(frozenset({"worker--coins--0"}))
    lab.experiment = lambda: evolve(whole, inputs={}, missing_inputs={"coins": "nobody can obfuscate it"})
    assert "nobody can obfuscate it" in lab.run().unfinished[0]
    assert states(lab.group.folder) == ["graded", "planned"]


def test_a_run_whose_competition_is_missing_is_collected_and_graded_later(lab):
    lab.make(("worker", {"seconds": "0.2"}))
    whole = lab.experiment()
    lab.experiment = lambda: whole
    with GroupLock(lab.group.folder) as lock:
        controller = lab.controller(lock)
        lab.display.on["running"] = lambda record: controller.stop()
        controller.run()
    lab.display.on.clear()
    assert states(lab.group.folder) == ["running"]
    why = {"coins": "no competition 'coins' is installed"}
    lab.experiment = lambda: evolve(whole, inputs={}, missing_inputs=why)
    assert "not graded: no competition 'coins' is installed" in lab.run().unfinished[0]
    assert states(lab.group.folder) == ["collected"] and not lab.grader.calls
    lab.experiment = lambda: whole
    assert lab.run().complete and states(lab.group.folder) == ["graded"]
