"""Which run comes next."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from attrs import evolve

from mlecore.controller.queue import Backlog
from mlecore.model.plan import PlannedAgent, PlannedRun
from mlecore.model.record import RunRecord
from mlecore_testing.records import a_run


def run(label: str, competition: str, seed: int = 0) -> RunRecord:
    return a_run(Path(f"{label}--{competition}--{seed}"), competition=competition, label=label, seed=seed)


def backlog(*runs: RunRecord, sizes: dict[str, float] | None = None) -> Backlog:
    out = Backlog(
        lambda planned: run(planned.label, planned.competition, planned.seed), sizes or {}, dict.fromkeys("ab", 100.0)
    )
    for record in runs:
        out.add(record)
    return out


def planned(label: str, competition: str, seed: int) -> PlannedRun:
    return PlannedRun(PlannedAgent(name=label, label=label), competition, seed)


def anything(label: str, competition: str) -> bool:
    return True


def test_fair_over_agents():
    waiting = backlog(*(run(label, "c", seed) for label in ("a", "b") for seed in range(10)))
    at_work: Counter[str] = Counter()
    for _ in range(6):
        record = waiting.pop(at_work, anything)
        at_work[record.label] += 1
    assert at_work == {"a": 3, "b": 3}
    at_work = Counter(a=0, b=3)
    assert [waiting.pop(at_work, anything).label for _ in range(2)] == ["a", "a"]


def test_longest_first():
    waiting = backlog(*(run("a", competition, seed) for competition in ("short", "long", "new") for seed in (0, 1)))
    for competition, seconds in (("short", 3.0), ("long", 50.0), ("long", 70.0)):
        waiting.ended(evolve(run("a", competition), seconds=seconds))
    assert waiting.expected("a", "long") == 60.0 and waiting.expected("a", "new") == 100.0
    order = [waiting.pop({}, anything).competition for _ in range(6)]
    assert order == ["new", "new", "long", "long", "short", "short"]
