"""`mlecore runs grade`: grade what has been collected, and start nothing."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli._names import GROUP
from mlecore.cli._shared import data_option, json_option, runs_option
from mlecore.cli.runs._names import group_folder


@click.command("grade")
@click.argument("name", type=GROUP, metavar="GROUP")
@click.option(
    "--with-installed",
    is_flag=True,
    help="Grade even if the installed competition plugin is not the one that the group used; reports show it.",
)
@data_option
@runs_option
@json_option
def command(name: str, with_installed: bool, data: tuple[Path, ...], runs: Path, as_json: bool) -> None:
    """Grade finished runs that have no grade yet; start no runs.

    Each run is graded by the plugin version that its group was started with, against the data that it worked on. If
    that is not possible, it stays ungraded, and the exit code is 3.
    """
    from mlecore.cli.run import perform
    from mlecore.runs.store import load_group, open_group

    folder = group_folder(runs, name)
    waiting = frozenset(record.name for record in load_group(folder) if record.state == "collected")
    if not waiting:
        click.echo(f"{folder.name}: no run is waiting to be graded", err=True)
        return
    plan = open_group(folder).plan
    perform(plan, folder.name, folder.parent, data, as_json, waiting, start_new=False, with_installed=with_installed)
