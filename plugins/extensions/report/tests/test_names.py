"""A setup's name: its label, else the shortest text that tells it apart."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from mle_ext_report.names import names, small_print

from mlecore.model.record import RunRecord


def of(graded: Any, agent: str, label: str = "", model: str | None = None, **options: str) -> RunRecord:
    run = graded(label=label or agent, model=model).run
    return evolve(run, agent=evolve(run.agent, name=agent, options=options))


@pytest.mark.parametrize(
    ("setups", "expected"),
    [
        ([("aide",), ("openhands",)], ["aide", "openhands"]),
        ([("command", "copycat"), ("command", "rf")], ["copycat", "rf"]),
        ([("aide", "", "m1"), ("aide", "", "m2"), ("codex", "", "m2")], ["aide (m1)", "aide (m2)", "codex"]),
        ([("aide", "aide"), ("aide", "aide-2")], ["aide (1)", "aide (2)"]),
    ],
)
def test_a_name_is_as_short_as_it_can_be(graded: Any, setups: list[tuple[str, ...]], expected: list[str]) -> None:
    assert names([of(graded, *setup) for setup in setups]) == expected


def test_only_options_that_differ_are_in_a_name_and_no_command_line(graded: Any) -> None:
    steps = [of(graded, "aide", steps="50", k="5"), of(graded, "aide", steps="100", k="5")]
    assert names(steps) == ["aide (steps=50)", "aide (steps=100)"]
    assert "k=5" in small_print(steps[0], names(steps)[0]) and "steps" not in small_print(steps[0], names(steps)[0])
    scripts = [of(graded, "command", argv="python3 sk.py"), of(graded, "command", argv="python3 my_agent.py")]
    assert names(scripts) == ["command (sk.py)", "command (my_agent.py)"]


def test_names_are_never_the_same(graded: Any) -> None:
    alike = [of(graded, "aide", "x"), of(graded, "aide", "x"), of(graded, "aide", "x, 1")]
    assert len(set(names(alike, ["g", "h", "g"]))) == 3
