"""What an entry could leave out: runs that went worse, their cost, the judgement of detectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_ext_leaderboard.board import open_board
from mle_ext_leaderboard.checking import Check, check_rules
from mle_ext_leaderboard.duplicates import known_of
from mle_ext_leaderboard.tables import Standing, standings, tables
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.model.agents import Usage
from mlecore.model.calls import ModelCalls
from mlecore.model.findings import Findings
from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.runs.findings import write_findings
from mlecore.runs.store import read_record
from mlecore_testing import drawn_groups

Make = Callable[..., Path]


def checked(board: Path, *, only: str) -> tuple[Check, list[tuple[str, str]]]:
    """The entry "alpha" by the rules, and its remarks of one kind."""
    opened = open_board(board)
    check = check_rules(opened, "alpha", known_of(opened))
    return check, [(remark.level, remark.words) for remark in check.remarks if remark.check == only]


def test_detectors_that_judged_some_runs_or_none_are_named(board: Path, make_export: Make, add: Make) -> None:
    """Judged by one on one of six runs; planned for another, which judged none."""

    def judge(run: RunRecord) -> RunRecord:
        if (run.competition, run.seed) == ("spaceship-titanic", 0):
            found = Findings(run=run.uid, detector=PluginUse(name="eyes"), created_at="now", seconds=1.0, group="x")
            write_findings(run, found)
            run = evolve(run, digests=read_record(run.folder).digests)
        plan = run.folder.parent / "plan.toml"
        if "rules" not in (text := plan.read_text()):
            plan.write_text(f'{text}\n[execution.detectors.rules]\nmodel = "m"\n')
        return run

    add("alpha", make_export("a", change=judge))
    check, found = checked(board, only="findings")
    assert [level for level, _ in found] == ["warning", "warning"]
    assert "by eyes 1 of 6 runs" in found[0][1] and "by rules no run" in found[1][1]
    assert not {"judged", "unflagged"} & {*Standing(check=check).tags}


@pytest.mark.parametrize(("seeds", "remarks"), [((0, 1), 0), ((3, 17), 1), ((1, 2), 1)])
def test_chosen_seeds_draw_a_remark(
    board: Path,
    make_export: Make,
    add: Make,
    monkeypatch: pytest.MonkeyPatch,
    seeds: tuple[int, ...],
    remarks: int,
) -> None:
    parse = drawn_groups.parse_plan
    monkeypatch.setattr(
        drawn_groups, "parse_plan", lambda text: parse(text.replace("seeds = 2", f"seeds = {[*seeds]}"))
    )
    add("alpha", make_export("a"))
    check, found = checked(board, only="complete")
    assert [level for level, _ in found] == ["warning"] * remarks
    assert ("first-seeds" in Standing(check=check).tags) == (not remarks)


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, None),
        ({"usage": Usage(input_tokens=5)}, "undecided"),
        ({"usage": None, "model": "m"}, "undecided"),
        ({"usage": None}, None),
        ({"usage": None, "model": "m", "calls": ModelCalls()}, None),
        ({"calls": ModelCalls(calls=2, unknown=1, cost_usd=0.1)}, "undecided"),
        ({"usage": Usage(cost_usd=10_001.0)}, "error"),
    ],
)
def test_a_cost_that_nobody_knows_is_not_below_the_limit(
    board: Path, make_export: Make, add: Make, changes: dict[str, Any], level: str | None
) -> None:
    path = board / "leaderboard.toml"
    path.write_text(path.read_text().replace("[sets]", "max_usd = 10000\n[sets]"))
    add("alpha", make_export("a", change=lambda run: evolve(run, **changes) if run.seed else run))
    _, found = checked(board, only="budget")
    assert [each for each, _ in found] == ([level] if level else [])


def test_v2_counts_as_reports_do(board: Path, make_export: Make, add: Make, tmp_path: Path) -> None:
    """A competition without a comparable leaderboard is no failure."""
    ids = ("leaf-classification", "spaceship-titanic", "random-acts-of-pizza")
    rules = (board / "leaderboard.toml").read_text()
    (board / "leaderboard.toml").write_text(re.sub(r"three = .*", f"three = {[*ids]}", rules))
    add("alpha", make_export("a", competitions=ids, edition="v2", skill=1.0))
    opened = open_board(board)
    (table,) = tables(opened, standings(opened))
    (setup,) = summarise(read_sources(["a"], (), tmp_path / "runs")).setups
    rates = setup.rates[-1].rates
    assert setup.main_rate and setup.main_rate.mean > 0
    assert table.rows[0].ranked.rate == pytest.approx(setup.main_rate.mean)
    assert table.left_out == rates.left_out == "2 of 3: random-acts-of-pizza awards no medals"
