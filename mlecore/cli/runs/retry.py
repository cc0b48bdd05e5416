"""`mlecore runs retry`: plan runs again that failed or were cancelled."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli._names import RUN
from mlecore.cli._shared import runs_option
from mlecore.cli.runs._requests import ask


@click.command("retry")
@click.argument("names", type=RUN, nargs=-1, required=True, metavar="GROUP | GROUP/RUN...")
@runs_option
def command(names: tuple[str, ...], runs: Path) -> None:
    """Plan failed or cancelled runs again; for a group, all failed ones. Graded runs are never retried."""
    ask(names, runs, "retry", ("failed",), ("failed", "cancelled"))
