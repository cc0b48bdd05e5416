"""`mlecore runs`: groups of runs."""

from __future__ import annotations

import click

from mlecore.cli import Commands

_COMMANDS = ("list", "show", "watch", "logs", "resume", "grade", "retry", "cancel", "adopt")


@click.group("runs", cls=Commands, own=_COMMANDS, of="runs")
def command() -> None:
    """Inspect, resume, retry, cancel and share runs.

    Name a run as GROUP/RUN, or by the path of its folder.
    """
