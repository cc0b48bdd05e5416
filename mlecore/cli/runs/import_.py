"""`mlecore runs import`: a run group of MLE-bench as a group here."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli._shared import echo, runs_option
from mlecore.units import counted


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--grading-reports",
    "reports",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="Grading report of the group; repeatable. [default: *grading_report*.json in FOLDER]",
)
@click.option("--agent", help="Name of the agent. [default: derived from the group's name]")
@click.option("--group", "name", help="Name of the new group. [default: the folder's name]")
@runs_option
def command(folder: Path, reports: tuple[Path, ...], agent: str | None, name: str | None, runs: Path) -> None:
    """Import a run group of MLE-bench as a new group.

    FOLDER holds metadata.json and one folder per run. Facts that MLE-bench does not record (time limit, hardware,
    network) stay unknown.
    """
    from mlecore.sharing.mlebench import import_group

    imported = import_group(folder, runs, reports=reports, agent=agent, name=name)
    for line in imported.left_out:
        echo(f"left out: {line}", err=True)
    echo(f"{imported.group}: {counted(imported.runs, 'run')}, {len(imported.without_grade)} of them without a grade")
    echo(f"To see them: mlecore report {imported.group}")
