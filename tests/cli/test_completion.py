"""Shells complete commands and names; unknown commands suggest known ones."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from mlecore.cli import main


def completions(*words: str) -> list[str]:
    complete = ShellComplete(main, {}, "mlecore", "_MLECORE_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


def test_names_are_completed() -> None:
    assert completions("run", "--competition", "spaceship") == ["spaceship-titanic"]
    assert completions("check", "submission.csv", "optical") == ["optical-digits"]
    assert "baseline" in completions("run", "--agent", "")
    assert completions("run", "--backend", "v") == ["vm"]
    assert "prepare" in completions("pre")


def test_options_of_plugins_splits_and_states_are_completed() -> None:
    assert "argv=" in completions("run", "--agent", "baseline", "--agent", "command", "-A", "")
    assert completions("run", "--agent", "command", "-A", "network=") == ["network=llm", "network=open"]
    assert "isolation=" in completions("run", "-B", "i")
    assert "context=" in completions("run", "--backend", "kubernetes", "-B", "c")
    assert completions("run", "--agent", "nobody", "-A", "") == []
    assert completions("run", "--split", "l") == ["lite", "low"]
    assert "graded" in completions("runs", "list", "--state", "g")


def test_groups_and_runs_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "first" / "baseline--coins--0").mkdir(parents=True)
    (tmp_path / "first" / "builds").mkdir()
    (tmp_path / "first" / "group.json").touch()
    (tmp_path / "first" / "baseline--coins--0" / "run.json").touch()
    (tmp_path / "no-group").mkdir()
    monkeypatch.setenv("MLECORE_RUNS", str(tmp_path))
    assert completions("runs", "resume", "") == ["first"]
    assert completions("runs", "show", "first/b") == ["first/baseline--coins--0"]
    assert completions("runs", "show", "none/") == []


def test_an_unknown_command_suggests_a_known_one() -> None:
    result = CliRunner().invoke(main, ["reprot"])
    assert result.exit_code == 2 and "Did you mean report?" in result.output
    assert " --help" in CliRunner().invoke(main, ["xyzzy"]).output.splitlines()[-1]


def test_the_module_is_the_command() -> None:
    done = run([sys.executable, "-m", "mlecore.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mlecore, version ")
