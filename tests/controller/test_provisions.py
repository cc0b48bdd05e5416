"""Images and data: made once, whoever needs them and however many wait."""

from __future__ import annotations

import threading
import time

import pytest
from attrs import evolve

from mlecore.agents import Recipe
from mlecore.controller.provisions import Provision, Provisions
from mlecore.controller.reporting import GroupResult, Reporter
from mlecore.controller.tasks import Tasks
from mlecore.errors import BackendError
from mlecore.runs.journal import Journal


@pytest.fixture
def made(lab, monkeypatch):
    """Provisions of two agents with one recipe, one with another, and one that hands in finished files."""
    lab.make(*[("worker", {"code": str(code)}) for code in range(4)])
    experiment = lab.experiment()
    labels = list(experiment.agents)
    other = evolve(experiment.agents[labels[2]], recipe=Recipe(pip=("numpy",)))
    experiment = evolve(experiment, agents={**experiment.agents, labels[2]: other})
    tasks = Tasks(provide=2)
    reporter = Reporter(lab.display, Journal(lab.group.folder), GroupResult())
    logs = lab.group.folder / "builds"
    provisions = Provisions(experiment, logs, tasks, reporter, lab.timing, frozenset(labels[3:]))
    return provisions, experiment.backend, tasks, labels


def until(tasks: Tasks, condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        tasks.wait(time.monotonic() + 0.02)


def test_agents_with_one_recipe_share_its_image(made, monkeypatch):
    provisions, backend, tasks, labels = made
    builds, build = [], backend.build
    monkeypatch.setattr(backend, "build", lambda recipe, log: (builds.append(recipe), build(recipe, log))[1])
    for _ in range(3):
        assert [provisions.request(label, "coins") for label in labels] == [""] * 4
    until(tasks, lambda: all(provisions.ready(label, "coins") for label in labels))
    assert sorted(recipe.pip for recipe in builds) == [(), ("numpy",)]
    assert provisions.image(labels[0]) is provisions.image(labels[1])
    assert len(builds) == 2


def test_agents_that_hand_in_finished_files_need_nothing(made):
    provisions, _, tasks, labels = made
    assert provisions.ready(labels[3], "coins") and provisions.request(labels[3], "coins") == ""
    assert not tasks.busy("provide") and not provisions.ready(labels[0], "coins")


def test_a_failed_build_is_reported_for_the_agents_that_need_it(made, monkeypatch):
    provisions, backend, tasks, labels = made
    build = backend.build

    def picky(recipe, log):
        if recipe.pip:
            raise BackendError("no numpy here")
        return build(recipe, log)

    monkeypatch.setattr(backend, "build", picky)
    until(tasks, lambda: provisions.request(labels[2], "coins"))
    assert provisions.request(labels[2], "coins") == f"agent {labels[2]} cannot be made ready: no numpy here"
    until(tasks, lambda: not provisions.request(labels[0], "coins") and provisions.ready(labels[0], "coins"))


def test_one_thing_is_made_once_for_all_who_wait():
    count, gate = [], threading.Event()

    def make() -> int:
        gate.wait(10)
        count.append(1)
        return len(count)

    provision, results = Provision("x", "making it", make), []
    threads = [threading.Thread(target=lambda: results.append(provision.get())) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert not provision.ready
    gate.set()
    for thread in threads:
        thread.join(10)
    assert results == [1] * 5 and provision.ready


def test_what_failed_is_tried_again_by_the_next_who_asks():
    answers = iter([OSError("away"), "made"])

    def make() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    provision = Provision("x", "making it", make)
    with pytest.raises(OSError, match="away"):
        provision.get()
    assert provision.get() == "made" == provision.get()
