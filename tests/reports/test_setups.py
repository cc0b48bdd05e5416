"""Runs by setup, what differs between them, and the report as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.grading.report import Report
from mlecore.reports.setups import Graded, differences, setups
from mlecore.reports.terminal import notes, rate_table, run_table
from mlecore.runs.plan import parse_plan
from mlecore.runs.record import Limits, PluginUse, RunRecord
from mlecore.runs.store import Group, create_group, load_group, planned_records


def run(competition: str = "spaceship-titanic", seed: int = 0, **changes: Any) -> RunRecord:
    values: dict[str, Any] = {
        "uid": f"{competition}{seed}",
        "name": f"{competition}--{seed}",
        "group": "g",
        "group_uid": "u",
        "competition": competition,
        "seed": seed,
        "agent": PluginUse(name="baseline", version="1.0"),
        "backend": PluginUse(name="vm"),
        "state": "graded",
        "ended": "finished",
    }
    return RunRecord(**{**values, **changes})


def report(score: float = 0.8, medal: str | None = None, **changes: Any) -> Report:
    made = Report(
        competition_id="spaceship-titanic",
        score=score,
        score_text=repr(score),
        gold_threshold=0.82066,
        silver_threshold=0.81388,
        bronze_threshold=0.80967,
        median_threshold=0.79565,
        any_medal=medal is not None,
        gold_medal=medal == "gold",
        silver_medal=medal == "silver",
        bronze_medal=medal == "bronze",
        above_median=True,
        submission_exists=True,
        valid_submission=True,
        is_lower_better=False,
        created_at="2026-01-01T00:00:00+00:00",
        submission_path="submission.csv",
        status="graded",
    )
    return evolve(made, **changes)


def graded(record: RunRecord, made: Report | None) -> Graded:
    return Graded(run=record, report=made, split="low")


def test_setups_are_told_apart() -> None:
    items = [
        graded(run(seed=1), report()),
        graded(run(seed=0), report()),
        graded(run(agent=PluginUse(name="baseline", version="1.0", options={"x": "1"})), report()),
        graded(run(synthetic=True), report()),
        graded(run(model="m"), report()),
    ]
    found = setups(items)
    assert [len(setup.runs) for setup in found] == [2, 1, 1, 1]
    assert [item.run.seed for item in found[0].runs] == [0, 1]
    assert found[1].title == "baseline 1.0, x=1, edition v1"
    assert found[2].title.endswith("synthetic data")


def test_differences_are_named() -> None:
    same = [run(seed=0), run(seed=1), run("leaf-classification", data_digest="other")]
    assert differences(same) == {}
    changed = [*same, run(seed=2, limits=Limits(time=60.0)), run(seed=3, data_digest="new")]
    found = differences(changed)
    assert found["time limit"] == ["86400 s", "60 s"]
    assert found["data of spaceship-titanic"] == ["none", "new"]
    assert set(found) == {"time limit", "data of spaceship-titanic"}


def test_text_with_medals() -> None:
    items = [
        graded(run(seed=0), report(0.83, "gold", rank=12, teams=2000)),
        graded(run(seed=1), report(0.70, above_median=False)),
        graded(run(seed=2, state="collected"), None),
        graded(run(seed=3, state="failed", reason="no engine"), None),
    ]
    (setup,) = setups(items)
    header, rows = run_table(setup)
    first = dict(zip(header, rows[0], strict=True))
    assert (first["SCORE"], first["MEDAL"], first["GOLD"], first["RANK"]) == (
        "0.83000",
        "gold",
        "0.82066",
        "12 of 2000",
    )
    assert rows[2][header.index("SUBMISSION")] == "not graded"
    assert rows[3][header.index("SUBMISSION")] == "failed: no engine"
    header, (low, everything) = rate_table(setup)
    assert low[0] == "Low" and everything[header.index("SEEDS")] == "3"  # the failed run does not count
    assert low[header.index("ANY MEDAL %")] == "33.3 ± 33.3"
    told = "\n".join(notes(setup))
    assert "spaceship-titanic--2 could not be graded yet and counts as no medal" in told
    assert "1 runs (spaceship-titanic--3)" in told


def test_text_without_medals() -> None:
    plain = {"gold_threshold": None, "silver_threshold": None, "bronze_threshold": None, "median_threshold": None}
    items = [
        graded(run(synthetic=True), report(0.9, sample_score=0.5, beats_sample=True, **plain)),
        graded(run(seed=1, synthetic=True), report(0.4, sample_score=0.5, beats_sample=False, **plain)),
    ]
    (setup,) = setups(items)
    header, rows = run_table(setup)
    assert [row[header.index("BEATS SAMPLE")] for row in rows] == ["yes", "no"]
    assert "1 of 2 graded runs beat the sample submission." in list(notes(setup))


@pytest.fixture
def group(tmp_path: Path) -> Group:
    """A group of two graded runs, on disk."""
    text = 'competitions = ["spaceship-titanic"]\nseeds = 2\n[[agents]]\nname = "dummy"\n'
    made = create_group(tmp_path, "g", parse_plan(text))
    for record in planned_records(made):
        write(evolve(record, folder=made.folder / record.name, state="graded", ended="finished"))
    return made


def write(record: RunRecord) -> None:
    record.folder.mkdir(exist_ok=True)
    (record.folder / "run.json").write_bytes(record.dumps())
    (record.folder / "grade.json").write_text(json.dumps(report(0.82).to_json()))


def test_the_verb(group: Group) -> None:
    result = CliRunner().invoke(main, ["report", str(group.folder)])
    assert result.exit_code == 0, result.output
    assert "0.82000" in result.output and "Low" not in result.output  # spaceship-titanic is of no split of three
    found = json.loads(CliRunner().invoke(main, ["report", str(group.folder), "--json"]).output)["setups"][0]
    assert found["rates"][0]["rates"]["valid"] == {"mean": 100.0, "sem": 0.0}
    record = load_group(group.folder)[1]
    write(evolve(record, limits=Limits(time=60.0)))
    result = CliRunner().invoke(main, ["report", str(group.folder)])
    assert result.exit_code == 2 and "time limit: 86400 s | 60 s" in result.output
    assert CliRunner().invoke(main, ["report", str(group.folder), "--mix"]).exit_code == 0
    assert CliRunner().invoke(main, ["report", "nothing"]).exit_code == 2
