"""`mlecore runs export`: a group as a bundle that others can verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import GROUP
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import runs_option
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mle_ext_sharing.statement import Statement


@click.command("export")
@click.argument("name", type=GROUP, metavar="GROUP")
@click.option("--to", type=click.Path(path_type=Path), required=True, help="New folder, .zip or .jsonl to write.")
@click.option("--logs", is_flag=True, help="Include logs/, code/ and code_snapshots/ of each run.")
@click.option(
    "--sign",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="KEY",
    help="Sign the bundle with your SSH key; its .pub file if the agent holds the key.",
)
@runs_option
def command(name: str, to: Path, logs: bool, sign: Path | None, runs: Path) -> None:
    """Export a group as a bundle that others can verify.

    Writes records, submissions, grades and findings, with a hash of each file. Answers and keys are never included:
    only files with known names are copied, and a file that contains the value of a key in the environment is
    rejected. A .jsonl only names each run's submission, logs and code where they are, for MLE-bench's tools.
    """
    from mle_ext_sharing.exporting import export_group, lost_submissions
    from mle_ext_sharing.signed import add_signature
    from mlecore.util.units import counted, first, show_size

    folder = group_folder(runs, name)
    if to.suffix == ".jsonl":
        from mle_ext_sharing.jsonl import write_jsonl

        if logs or sign:
            raise UsageError("a .jsonl names the files of the runs: leave out --logs and --sign")
        click.echo(f"{to}: {counted(write_jsonl(folder, to), 'run')}")
        return
    said: list[Statement] = []

    def add(path: Path) -> None:
        if sign:
            said.append(add_signature(path, folder, sign))

    bundle = export_group(folder, to, logs=logs, sign=add)
    size = show_size(sum(entry.size for entry in bundle.files))
    click.echo(f"{to}: {counted(bundle.runs, 'run')} in {len(bundle.files)} files, {size}")
    for each in said:
        click.echo(f"Signed: {each}")
    lost = lost_submissions(folder)
    click.echo(f"To check it: mlecore runs verify {to}{' --key KEY.pub' if said else ''}")
    if lost:
        click.echo(
            f"{counted(len(lost), 'run')} without the submission that was collected: {', '.join(first(lost))}", err=True
        )
        raise click.exceptions.Exit(1)
