"""How a group went, counted again from its files."""

from __future__ import annotations

import json
from pathlib import Path

from attrs import evolve

from mlecore.cli._ending import how_it_went
from mlecore.runs.store import load_group
from mlecore_testing.drawn_groups import write_group


def test_the_end_of_a_group_says_how_it_went(tmp_path: Path) -> None:
    folder = write_group(tmp_path, "g", skill=0.6, seeds=1)
    grades = [json.loads(path.read_text()) for path in folder.glob("*/grade.json")]
    states = [sum(grade["status"] == state for grade in grades) for state in ("graded", "invalid", "none")]
    medals = {name: sum(grade[f"{name}_medal"] for grade in grades) for name in ("gold", "silver", "bronze")}
    assert all(states) and all(medals.values()), "what was drawn shows nothing"
    sentence, *failures = how_it_went(load_group(folder), tmp_path)
    parts = [f"{number} {name}" for number, name in zip(states, _NAMES, strict=True)]
    parts.append(f"{sum(grade['beats_sample'] is True for grade in grades)} beat the sample")
    kinds = ", ".join(f"{number} {name}" for name, number in medals.items())
    assert sentence == f"75 runs: {', '.join(parts)}, {sum(medals.values())} medals ({kinds})"
    assert [line.split()[0] for line in failures] == [str(number) for number in states[1:]]
    assert all("mlecore runs logs g/baseline--" in line and f"--runs {tmp_path}" in line for line in failures)


_NAMES = ("valid", "invalid", "without a submission")


def test_the_most_common_cause_of_failures(tmp_path: Path) -> None:
    """Numbers in it make no other cause; on data without medals none is missed."""
    first, *others = load_group(write_group(tmp_path, "g", medals=False, seeds=1))[:4]
    lost = [evolve(run, state="failed", reason=f"node {n} is gone\nmore") for n, run in enumerate(others)]
    lost[0] = evolve(lost[0], reason="the disk is full")
    sentence, line = how_it_went([evolve(first, state="running"), *lost], Path("runs"))
    assert sentence == "4 runs: 3 failed, 1 running"
    assert line == f"  2 of 3 failed: node 1 is gone (mlecore runs show g/{others[1].name})"
