"""Every command that README and docs show is one: its names and options exist, and what they say can be read.

Nothing is run. docs/agents.md, whose commands run in a test of their own, is read here as well.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mlecore.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/*/README.md"))]
FENCE = re.compile(r"^[ ]*```(\w*)\n(.*?)^[ ]*```", re.M | re.S)
SYNOPSIS = re.compile(r"[|\[\]]|\.\.\.")


def shown(text: str) -> Iterator[str]:
    """The commands in the fenced blocks of a page, lines that go on joined, without comments; no synopses."""
    for language, block in FENCE.findall(text):
        if language in ("", "sh", "bash", "shell", "console"):
            for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
                words = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if words.startswith("mlecore ") and not SYNOPSIS.search(words.partition(" #")[0]):
                    yield re.split(r"\s{2,}(?=\S)|\s+(?:#|&&|>|2>)", words)[0]


COMMANDS = [
    pytest.param(command, id=f"{page.relative_to(ROOT)}: {command}")
    for page in PAGES
    for command in dict.fromkeys(shown(page.read_text(encoding="utf-8")))
]


def parsed(words: list[str]) -> click.Context:
    """The context of the innermost command. Raises UsageError of click."""
    context = main.make_context("mlecore", words)
    while isinstance(context.command, click.Group) and context._protected_args + context.args:
        name, command, rest = context.command.resolve_command(context, context._protected_args + context.args)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return context


def test_there_are_commands_and_wrong_ones_are_noticed() -> None:
    assert len(COMMANDS) > 50
    assert list(shown("```\nmlecore run \\\n  --agent x   # y\nmlecore runs list [GROUP]\n```\n")) == [
        "mlecore run --agent x"
    ]
    for words in (["nosuch"], ["run", "--nosuch"], ["runs", "nosuch"], ["report", "--html"]):
        with pytest.raises(click.UsageError):
            parsed(words)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_shown_can_be_given(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        parsed(shlex.split(command)[1:])
    except click.exceptions.Exit:
        return  # --help, --version
    except click.BadParameter as error:
        assert "does not exist" in error.message, error.message  # a file that a reader has
