"""Agents of one plan with different limits: their runs' records, and what fits beside each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mlecore.runs.lock import GroupLock


def test_runs_have_the_limits_of_their_agent_and_share_what_there_is(lab: Any) -> None:
    """Of three GPUs, a run with two leaves room for one with one: never more GPUs at once than there are."""
    gpus, most, beside = {"none": 0, "one": 1, "two": 2}, 0, Counter[str]()
    agents = [
        {"name": "worker", "label": label, "options": {"seconds": "0.15"}, "limits": {"gpus": number}}
        for label, number in gpus.items()
    ]
    agents[0]["limits"] = {"time": "2h", "cpus": 4, "memory": "8GB"}
    lab.make(agents=agents, seeds=4, backend_options={"gpus": "3"})

    def changed(record: Any, report: object) -> None:
        nonlocal most
        beside[record.label] += {"starting": 1, "collected": -1}.get(record.state, 0)
        most = max(most, sum(gpus[label] * count for label, count in beside.items()))

    lab.display.changed = changed
    assert lab.run().complete
    assert most == 3, "all GPUs are used, and none twice"
    limits = {record.label: record.limits for record in lab.records().values()}
    assert {label: each.gpus for label, each in limits.items()} == gpus
    assert (limits["none"].time, limits["none"].cpus, limits["none"].memory) == (7200.0, 4.0, 8 * 10**9)
    assert (limits["two"].time, limits["two"].cpus) == (60.0, None)


def test_what_fits_does_not_wait_for_what_does_not(lab: Any) -> None:
    agents = [{"name": "worker", "label": f"{gpus}-gpus", "limits": {"gpus": gpus}} for gpus in (2, 0)]
    lab.make(agents=agents, seeds=3)
    with GroupLock(lab.group.folder, lab.display.say) as lock:
        controller = lab.controller(lock)
        lab.display.tick = lambda active, counts, waiting: counts["graded"] == 3 and controller.stop()
        controller.run()
    assert {record.label: record.state for record in lab.records().values()} == {
        "0-gpus": "graded",
        "2-gpus": "planned",
    }
    assert "no run of 2-gpus fits backend folders now: 0 GPUs, 2 a run; waiting" in lab.display.said
