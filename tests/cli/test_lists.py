"""`mlecore plugins` and `mlecore competitions`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mlecore.cli import main
from mlecore.plugins.loading import load
from mlecore.plugins.splits import SPLITS


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLECORE_DATA", str(tmp_path))


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_plugins_list() -> None:
    rows = json.loads(invoke("plugins", "list", "--kind", "agent", "--json").output)
    assert {"agent"} == {row["kind"] for row in rows}
    dummy = next(row for row in rows if row["name"] == "dummy")
    assert dummy["distribution"] == "mle-agent-dummy" and dummy["state"] == "ok"
    lines = invoke("plugins", "list").output.splitlines()
    assert lines[0].split() == ["KIND", "NAME", "VERSION", "DISTRIBUTION", "STATE"]
    assert any(line.split()[:2] == ["competition", "spaceship-titanic"] for line in lines)


def test_plugins_show() -> None:
    shown = json.loads(invoke("plugins", "show", "command", "--json").output)
    assert "launch" in shown["hooks"]
    assert {option["name"] for option in shown["options"]} >= {"argv", "image"}
    text = invoke("plugins", "show", "spaceship-titanic").output
    assert "prepare" in text and "mle-comp-spaceship-titanic" in text
    result = invoke("plugins", "show", "nothing")
    assert result.exit_code == 2 and "nothing" in result.output


def test_plugins_show_prints_every_option_of_an_agent() -> None:
    shown = invoke("plugins", "show", "react").output
    declared = load("agent", "react").call("agent")
    assert len(declared.options) >= 5
    for option in declared.options:
        default = f" [{option.default}]" if option.default is not None else ""
        assert f"{option.name} ({option.type}): {option.help}{default}\n" in shown


def test_competitions_list_and_show(tmp_path: Path) -> None:
    rows = json.loads(invoke("competitions", "list", "--json").output)
    titanic = next(row for row in rows if row["id"] == "spaceship-titanic")
    assert titanic["metric"] == "accuracy" and titanic["prepared"] == []
    assert CliRunner().invoke(main, ["prepare", "optical-digits"]).exit_code == 0
    rows = json.loads(invoke("competitions", "list", "--json").output)
    digits = next(row for row in rows if row["id"] == "optical-digits")
    assert digits["prepared"] == ["v1"]
    shown = invoke("competitions", "show", "optical-digits").output
    assert "none: it has no human leaderboard" in shown and str(tmp_path) in shown
    assert invoke("competitions", "list", "--split", "easy").exit_code == 2


def test_the_benchmark_has_75_competitions_and_7_for_development() -> None:
    of = {split: json.loads(invoke("competitions", "list", "--split", split, "--json").output) for split in SPLITS}
    assert {split: len(rows) for split, rows in of.items()} == {"low": 22, "medium": 38, "high": 15, "dev": 7}
