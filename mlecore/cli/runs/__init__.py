"""`mlecore runs`: groups of runs."""

from __future__ import annotations

import click

from mlecore.cli._group import Group

_COMMANDS = (
    "list",
    "show",
    "watch",
    "logs",
    "trace",
    "resume",
    "grade",
    "retry",
    "cancel",
    "export",
    "verify",
    "import",
    "adopt",
)


@click.group("runs", cls=Group, package=__name__, own=_COMMANDS)
def command() -> None:
    """Inspect, resume, retry, cancel and share runs.

    Name a run as GROUP/RUN, or by the path of its folder.
    """
