"""`mlecore runs import`: runs of MLE-bench, or of a harness that an extension reads, as a group here."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.shared import echo, runs_option
from mlecore.util.units import counted


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--grading-reports",
    "reports",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="Grading report of MLE-bench; repeatable. [default: *grading_report*.json in SOURCE]",
)
@click.option("--agent", help="Name of the agent. [default: derived from SOURCE]")
@click.option("--group", "name", help="Name of the new group. [default: the name of SOURCE]")
@runs_option
def command(source: Path, reports: tuple[Path, ...], agent: str | None, name: str | None, runs: Path) -> None:
    """Import runs of another harness as a new group.

    SOURCE is a run group of MLE-bench (a folder with one folder per run), one of its grading reports, a .jsonl of
    submissions, logs and code, or a CSV with the columns competition and score, and perhaps agent, seed, edition and
    data_kind. With mle-ext-inspect it can be a log of inspect or a folder of logs, with mle-ext-harbor the folder of a
    job. All runs must be of one edition. Facts that the harness does not record stay unknown.
    """
    from mle_ext_sharing.importing import import_runs

    imported = import_runs(source, runs, reports=reports, agent=agent, name=name)
    for line in imported.left_out:
        echo(f"left out: {line}", err=True)
    echo(f"{imported.group}: {counted(imported.runs, 'run')}, {len(imported.without_grade)} of them without a grade")
    echo(f"To see them: mlecore report {imported.group}")
