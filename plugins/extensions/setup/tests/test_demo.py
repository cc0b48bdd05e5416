"""`mlecore demo`: its commands can be given, name what is installed, and a failure ends it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from mle_ext_setup import demo

from mlecore.cli import main


def shown(output: str) -> list[list[str]]:
    return [shlex.split(line)[2:] for line in output.splitlines() if line.startswith("$ mlecore ")]


def test_its_commands_can_be_given_and_name_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "COMPETITIONS", ("optical-digits", "not-installed"))
    monkeypatch.setattr(demo, "_show", lambda ctx, *words: click.echo("$ mlecore " + shlex.join(words)))
    parsed = CliRunner().invoke(main, ["demo", "--folder", str(tmp_path)])
    assert parsed.exit_code == 0, parsed.output
    commands = shown(parsed.output)
    assert [words[0] for words in commands] == ["prepare", "run", "report"]
    assert "not-installed" not in parsed.output
    assert all(str(tmp_path) in " ".join(words) for words in commands)
    for words in commands:
        command = main.get_command(click.Context(main), words[0])
        assert command is not None
        command.make_context(words[0], words[1:])


@pytest.mark.parametrize("works", [True, False])
def test_without_bubblewrap_it_says_that_there_is_no_sandbox(
    works: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_bubblewrap_works", lambda: works)
    monkeypatch.setattr(demo, "_show", lambda ctx, *words: click.echo("$ mlecore " + shlex.join(words)))
    printed = CliRunner().invoke(main, ["demo", "--folder", str(tmp_path)]).output
    (run,) = (words for words in shown(printed) if words[0] == "run")
    assert ("isolation=none" in run) is not works
    assert ("bubblewrap is missing" in printed) is not works


def test_a_command_that_fails_ends_it(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    done = CliRunner().invoke(main, ["demo", "--folder", str(tmp_path)])
    assert done.exit_code == 2
    assert [words[0] for words in shown(done.output)] == ["prepare"]
