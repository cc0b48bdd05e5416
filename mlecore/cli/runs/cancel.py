"""`mlecore runs cancel`: end runs, or keep them from starting."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import RUN
from mlecore.cli.runs._requests import ask
from mlecore.cli.shared import runs_option


@click.command("cancel")
@click.argument("names", type=RUN, nargs=-1, required=True, metavar="GROUP | GROUP/RUN...")
@runs_option
def command(names: tuple[str, ...], runs: Path) -> None:
    """Cancel running and waiting runs.

    The output of running runs is kept, but not graded.
    """
    open_states = ("planned", "starting", "waiting", "running")
    ask(names, runs, "cancel", open_states, open_states)
