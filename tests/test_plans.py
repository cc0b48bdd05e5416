"""Each study in plans/ can be run, costs what its head states, and is decided by its report."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.controller.capacity import at_once
from mlecore.model.backends import Capacity, Hardware
from mlecore.model.plan import Plan
from mlecore.runs.planning import parse_plan, read_plan
from mlecore.runs.store import create_group, load_group, planned_records
from mlecore_testing.drawn_groups import write_run

PLANS = {path.stem: path for path in (Path(__file__).parents[1] / "plans").glob("*.toml")}
LITE = 22


def test_these_are_the_studies_of_the_paper() -> None:
    assert PLANS.keys() == {"pass-at-k", "hardware", "time"}


@pytest.mark.parametrize("name", PLANS)
def test_a_study_costs_what_it_says(name: str) -> None:
    plan, head = read_plan(PLANS[name]), PLANS[name].read_text().partition("\n\n")[0]
    hours = {agent.label: plan.limits_of(agent).time / 3600 for agent in plan.agents}
    assert len(plan.competitions) == 75
    for competitions in (75, LITE):
        runs = competitions * len(plan.seeds)
        assert f"{runs * len(plan.agents):,} runs" in head
        assert f"{runs * sum(hours.values()):,.0f} hours" in head
    assert f"mlecore report {name} --pad-missing" in head


@pytest.mark.parametrize("name", PLANS)
def test_a_study_can_be_tried_in_minutes(name: str) -> None:
    """By the command that the file names, on synthetic data and without a model, a GPU or a container."""
    text = PLANS[name].read_text()
    (command,) = re.findall(r"^#   sed 's/(.*)//' plans/(.*) > try.toml$", text, re.M)
    assert command[1] == PLANS[name].name
    plan, tried = read_plan(PLANS[name]), parse_plan(re.sub(f"(?m){command[0]}", "", text))
    assert len(tried.agents) == len(plan.agents) and len(tried.competitions) == 3
    assert tried.data.synthetic and tried.backend.name == "vm" and not any(agent.model for agent in tried.agents)
    assert all(tried.limits_of(agent).gpus == 0 and tried.limits_of(agent).time <= 300 for agent in tried.agents)
    assert (len(set(map(str, map(tried.limits_of, tried.agents))))) == len(tried.agents), "setups differ here, too"
    for agent in tried.agents:
        assert Path(PLANS[name].parents[1], agent.options["argv"].split()[1]).is_file()


def drawn(runs: Path, plan: Plan) -> Path:
    """The group of a plan on fewer competitions, with drawn results: the more hardware and time, the better."""
    plan = evolve(plan, competitions=plan.competitions[:12], seeds=plan.seeds[:8])
    group = create_group(runs, "g", plan)
    for record in planned_records(group):
        more = record.limits.gpus * 0.3 + record.limits.time / 360_000
        record = evolve(record, folder=group.folder / record.name)
        write_run(record, random.Random(record.name), min(1.0, 0.2 + more), medals=True)
    for record in load_group(group.folder):
        hardware = Hardware(cpus=record.limits.cpus, gpus=("NVIDIA A10",) * record.limits.gpus)
        (record.folder / "run.json").write_bytes(evolve(record, hardware=hardware).dumps())
    return group.folder


@pytest.mark.parametrize(
    ("name", "pairs", "words"),
    [
        ("pass-at-k", 0, ""),
        ("hardware", 3, "no GPU against 1 GPU"),
        ("time", 1, "24h against 100h"),
    ],
)
def test_the_report_of_a_study_decides_it(name: str, pairs: int, words: str, tmp_path: Path) -> None:
    drawn(tmp_path, read_plan(PLANS[name]))
    asked = ["report", "g", "--pad-missing", "--runs", str(tmp_path), "--format"]
    done = CliRunner().invoke(main, [*asked, "json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert len(found["comparisons"]) == pairs and all(pair["differences"] for pair in found["comparisons"])
    assert all((pair["differences"][0]["p_holm"] is None) == (pairs == 1) for pair in found["comparisons"])
    page = CliRunner().invoke(main, [*asked, "markdown"]).output
    assert f"A - B differ by plan: {words}." in page or not words
    last = found["setups"][-1]
    if name == "pass-at-k":
        assert [row["k"] for row in last["pass_at_k"]] == list(range(1, 9)) and "Best of k runs" in page
    if name == "time":
        assert {24, 48, 100} <= {at["seconds"] / 3600 for at in last["progress"]}
        assert [at["seconds"] / 3600 for at in found["setups"][0]["progress"]] == [1, 2, 4, 8, 16, 24]


def test_the_setups_of_the_study_of_hardware_have_their_own(tmp_path: Path) -> None:
    plan = read_plan(PLANS["hardware"])
    group = create_group(tmp_path, "g", evolve(plan, competitions=plan.competitions[:1], seeds=(0,)))
    again = {record.label: record.limits for record in load_group(group.folder)}
    assert {label: (each.gpus, each.cpus, each.time) for label, each in again.items()} == {
        "cpu-only": (0, 12.0, 86400.0),
        "one-gpu": (1, 12.0, 86400.0),
        "two-gpus": (2, 12.0, 86400.0),
    }
    here = Capacity(cpus=96, memory=2**40, gpus=("0", "1", "2", "3"))
    fits = {agent.label: at_once(here, plan.limits_of(agent), None)[0] for agent in plan.agents}
    assert fits == {"cpu-only": 8, "one-gpu": 4, "two-gpus": 2}
