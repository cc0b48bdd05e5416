"""What comes next, and how many at once."""

from __future__ import annotations

from collections import Counter

from mlecore.backends import Capacity
from mlecore.controller.queue import UNBOUNDED, Backlog, at_once
from mlecore.runs.record import Limits, PluginUse, RunRecord


def run(label: str, competition: str, seed: int = 0) -> RunRecord:
    use = PluginUse(name=label)
    name = f"{label}--{competition}--{seed}"
    return RunRecord(
        uid=name,
        name=name,
        group="g",
        group_uid="g",
        competition=competition,
        agent=use,
        label=label,
        backend=use,
        seed=seed,
    )


def backlog(*runs: RunRecord, sizes: dict[str, float] | None = None) -> Backlog:
    out = Backlog(sizes=sizes or {}, limit=100.0)
    for record in runs:
        out.add(record.label, record.competition, record)
    return out


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


def test_an_agent_that_ends_at_once_does_not_starve_the_other():
    waiting = backlog(*(run(label, "c", seed) for label in ("a", "b") for seed in range(4)))
    order = [waiting.pop({}, anything).label for _ in range(8)]
    assert order == ["a", "b"] * 4


def test_longest_first():
    waiting = backlog(*(run("a", competition, seed) for competition in ("short", "long", "new") for seed in (0, 1)))
    waiting.took("a", "short", 3.0)
    waiting.took("a", "long", 50.0)
    waiting.took("a", "long", 70.0)
    assert waiting.expected("a", "long") == 60.0 and waiting.expected("a", "new") == 100.0
    order = [waiting.pop({}, anything).competition for _ in range(6)]
    assert order == ["new", "new", "long", "long", "short", "short"]


def test_more_data_first_where_nothing_is_known():
    waiting = backlog(run("a", "small"), run("a", "big"), sizes={"small": 0.1, "big": 30.0})
    assert waiting.pop({}, anything).competition == "big"


def test_what_is_not_ready_waits():
    waiting = backlog(run("a", "c"), run("b", "d"))
    assert waiting.pop({}, lambda label, competition: competition == "d").label == "b"
    assert waiting.pop({}, lambda label, competition: False) is None
    assert waiting.length == 1


def test_taken_out_of_turn():
    waiting = backlog(run("a", "c", 0), run("a", "c", 1))
    assert waiting.take("a", "c", "a--c--1").seed == 1
    assert waiting.take("a", "c", "a--c--1") is None
    assert waiting.drop(None, "c") == 1 and waiting.length == 0 and not waiting.lines


def test_slots():
    place = Capacity(cpus=16, memory=64 * 2**30, gpus=("0", "1", "2"))
    assert at_once(place, Limits(), None)[0] == 16
    assert at_once(place, Limits(cpus=5), None)[0] == 3
    assert at_once(place, Limits(cpus=0.1, memory=2**34), None)[0] == 4
    assert at_once(place, Limits(gpus=1), None)[0] == 3
    assert at_once(place, Limits(gpus=2), None)[0] == 1
    assert at_once(place, Limits(gpus=4), None) == (0, "3 GPUs, 4 a run")
    assert at_once(place, Limits(), 2) == (2, "--max-parallel")
    assert at_once(None, Limits(cpus=64), None)[0] == UNBOUNDED
    assert at_once(None, Limits(), 500)[0] == 500
