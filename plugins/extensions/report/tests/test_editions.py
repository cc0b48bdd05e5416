"""Runs on v1 and on v2 of the same competitions are told apart everywhere."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import mle_ext_report
import pytest
from click.testing import CliRunner

import mlecore
from mlecore.cli import main
from mlecore_testing import drawn_groups

IDS = ("leaf-classification", "plant-pathology-2021-fgvc8", "random-acts-of-pizza")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for edition, skill in (("v1", 0.9), ("v2", 0.1)):
        drawn_groups.write_group(folder, edition, competitions=IDS, edition=edition, skill=skill)
    return folder


def report(runs: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["report", "v2", "v1", "--runs", str(runs), *words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("words", [(), ("--mix",)])
def test_editions_are_neither_averaged_nor_tested(runs: Path, words: tuple[str, ...]) -> None:
    found = json.loads(report(runs, "--format", "json", *words))
    assert [(setup["edition"], setup["name"]) for setup in found["setups"]] == [
        ("v2", "baseline (edition v2)"),
        ("v1", "baseline (edition v1)"),
    ]
    (pair,) = found["comparisons"]
    assert pair["differ"]["edition"] and pair["differences"] == [] and pair["a_wins"] is None
    assert "--mix compares them anyway" not in report(runs, "--format", "markdown", *words)


def test_each_run_names_its_edition(runs: Path) -> None:
    expected = {(edition, id): "same" for edition in ("v1", "v2") for id in IDS}
    expected["v2", "random-acts-of-pizza"] = "none"
    rows = list(csv.DictReader(io.StringIO(report(runs, "--format", "csv"))))
    frame = mle_ext_report.report("v1", "v2", runs=runs)
    lines = [line for setup in json.loads(report(runs, "--format", "json"))["setups"] for line in setup["runs"]]
    for found in (rows, frame.to_dict("records"), lines):
        assert {(row["edition"], row["competition"]): row["comparability"] for row in found} == expected
    assert {row["metric"] for row in rows if "plant" in row["competition"]} == {"micro-f1", "mean-f1"}


def test_what_changed_between_the_editions(runs: Path, tmp_path: Path) -> None:
    """B is v1: changes are those from v1 to v2, whichever group is named first."""
    rows = json.loads(report(runs, "--format", "json"))["editions"]
    assert [(row["a"], row["b"], row["competition"]) for row in rows] == [("B", "A", id) for id in IDS]
    grades = {
        edition: [json.loads(path.read_text()) for path in (runs / edition).glob("*/grade.json")]
        for edition in ("v1", "v2")
    }
    leaf, plant, pizza = rows
    for key, edition in (("a_score", "v1"), ("b_score", "v2")):
        scores = [
            each["score"] for each in grades[edition] if each["competition_id"] == IDS[0] and each["score"] is not None
        ]
        assert leaf[key] == pytest.approx(sum(scores) / len(scores))
    assert leaf["difference"] == pytest.approx(leaf["b_score"] - leaf["a_score"])
    assert leaf["changes"] == mlecore.competition(IDS[0]).facts.editions["v2"].changes
    assert plant["difference"] is None  # another metric
    assert (pizza["comparability"], pizza["b_position"]) == ("none", None) and pizza["a_position"] is not None
    page = tmp_path / "page.html"
    said = report(runs, "--output", str(page)) + page.read_text()
    assert said.count(leaf["changes"]) >= 2
