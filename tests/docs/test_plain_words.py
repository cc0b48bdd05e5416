"""Docs, help texts and messages in plain English: phrases that are always wrong there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from mlecore.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/*/README.md")]
SOURCES = [path for top in ("mlecore", "plugins/*/*/mle*", "scripts") for path in ROOT.glob(f"{top}/**/*.py")]
ODD = (
    r"\bexists? already\b|; there are: |\bexclude each other\b|\b(?:runs?|groups?|controllers?) (?:is |are )?at work\b"
)
NOT_PLAIN = re.compile(
    r"\bof ours\b|\bthat (?:is|are) there\b|\bas it stands\b|\bhow (?:it|they) gets? on\b|\bOf one run\b"
    r"|\bhand(?:s|ed|ing)? in\b|\b(?:is|are) refused\b|\bsays? so, too\b|\bas such\b|\btools of the provider\b|" + ODD
)


def test_pages() -> None:
    texts = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in PAGES}
    assert {path: found for path, text in texts.items() if (found := NOT_PLAIN.findall(text))} == {}


def helps(command: click.Command, context: click.Context) -> Iterator[str]:
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from helps(inner, click.Context(inner, context, name))


def test_help() -> None:
    for text in helps(main, click.Context(main, info_name="mlecore")):
        assert NOT_PLAIN.findall(" ".join(text.split())) == [], text


def test_messages() -> None:
    assert len(SOURCES) > 500
    odd = [(str(path), found) for path in SOURCES if (found := re.findall(ODD, path.read_text(encoding="utf-8")))]
    assert odd == []
