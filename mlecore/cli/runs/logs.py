"""`mlecore runs logs`: what an agent's process printed."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import RUN
from mlecore.cli.runs._names import one_run
from mlecore.cli.shared import runs_option


@click.command("logs")
@click.argument("name", type=RUN, metavar="GROUP/RUN")
@click.option("-f", "--follow", is_flag=True, help="Follow the output until the process ends.")
@runs_option
def command(name: str, follow: bool, runs: Path) -> None:
    """Print the output of a run's agent.

    Escape sequences are printed as text. The original bytes are in logs/output.log of the run's folder.
    """
    from mlecore.controller.output import output
    from mlecore.util.printable import printable_output

    for text in printable_output(output(one_run(runs, name), follow)):
        click.echo(text, nl=False)
