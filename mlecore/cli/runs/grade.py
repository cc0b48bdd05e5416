"""`mlecore runs grade`: grade what has been collected, and start nothing."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import RUN
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import data_option, json_option, print_json, runs_option


@click.command("grade")
@click.argument("name", type=RUN, metavar="GROUP")
@click.option(
    "--with-installed",
    is_flag=True,
    help="Grade even if the installed competition plugin is not the one that the group used; reports show it.",
)
@click.option("--snapshots", is_flag=True, help="Grade the snapshots of graded runs instead: score over time.")
@data_option
@runs_option
@json_option
def command(
    name: str, with_installed: bool, snapshots: bool, data: tuple[Path, ...], runs: Path, as_json: bool
) -> None:
    """Grade finished runs that have no grade yet; start no runs.

    Each run is graded by the plugin version that its group was started with, against the data that it worked on. If
    that is not possible, it stays ungraded, and the exit code is 3. With --snapshots, GROUP may also be GROUP/RUN.
    """
    from mlecore.cli.run import perform
    from mlecore.runs.store import load_group, open_group

    folder = group_folder(runs, name)
    if snapshots:
        _grade_snapshots(folder, data, as_json)
        return
    waiting = frozenset(record.name for record in load_group(folder) if record.state == "collected")
    if not waiting:
        click.echo(f"{folder.name}: no run is waiting to be graded", err=True)
        return
    plan = open_group(folder).plan
    perform(plan, folder.name, folder.parent, data, as_json, waiting, start_new=False, with_installed=with_installed)


def _grade_snapshots(folder: Path, data: tuple[Path, ...], as_json: bool) -> None:
    from mlecore.controller.snapshots import grade_snapshots
    from mlecore.data.layout import DataDirs

    found = grade_snapshots(folder, DataDirs.of(data))
    if as_json:
        print_json([history.to_json() for history in found])
        return
    for history in found:
        click.secho(history.run, bold=True)
        for point in history.points:
            click.echo(f"  {point.seconds:>9.0f} s  {point.score_text or point.reason}")
