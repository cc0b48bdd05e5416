"""`mlecore runs retry`: plan runs again that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from mlecore.cli.names import END, RUN, STATE
from mlecore.cli.runs._requests import ask
from mlecore.cli.shared import echo, runs_option
from mlecore.errors import UsageError
from mlecore.util.units import counted

_SHOWN = 10  # runs whose results are listed before they are replaced


@click.command("retry")
@click.argument("names", type=RUN, nargs=-1, required=True, metavar="GROUP | GROUP/RUN...")
@click.option(
    "--state", type=STATE, multiple=True, help="For groups: only runs in this state; repeatable. [default: failed]"
)
@click.option(
    "--ended",
    type=END,
    multiple=True,
    help="For groups: only runs with this outcome: crashed, timed_out ...; repeatable.",
)
@click.option("--force", is_flag=True, help="Also retry runs that have a result; the old result is kept.")
@click.option("--yes", is_flag=True, help="Do not ask before results are replaced.")
@runs_option
def command(
    names: tuple[str, ...], state: tuple[str, ...], ended: tuple[str, ...], force: bool, yes: bool, runs: Path
) -> None:
    """Run failed or cancelled runs again.

    For a group, retries all failed runs. Graded runs are retried only with --force; for a group, --state and
    --ended select them. Their results are moved to the run's folder attempts/NUMBER/replaced, and record and
    reports show that they were replaced by hand.
    """
    allowed = ("failed", "cancelled", *(("graded",) if force else ()))
    if wrong := [word for word in state if word not in allowed]:
        raise UsageError(
            f"{wrong[0]} runs cannot be retried, only {' and '.join(allowed)} ones",
            fix="To retry runs that have a result: --force" if wrong[0] == "graded" else None,
        )
    ask(
        names,
        runs,
        "force" if force else "retry",
        state or (allowed if force and ended else ("failed",)),
        allowed,
        ended=ended,
        confirm=_confirm if force and not yes else None,
    )


def _confirm(folders: Sequence[Path]) -> None:
    """Ask before results are replaced."""
    from mlecore.controller.records import result_of

    graded = [(folder, result) for folder in folders if any(result := result_of(folder))]
    if not graded:
        return
    words = "has a result" if len(graded) == 1 else "have results"
    echo(f"{counted(len(graded), 'run')} {words}:", err=True)
    for folder, result in graded[:_SHOWN]:
        echo(f"  {folder.parent.name}/{folder.name}  {' '.join(result)}", err=True)
    if len(graded) > _SHOWN:
        echo(f"  ... and {len(graded) - _SHOWN} more", err=True)
    echo(
        "A new attempt replaces the result. The old one is kept in the run's folder (attempts/NUMBER/replaced), and "
        "reports will note that it was replaced by hand.",
        err=True,
    )
    click.confirm(f"Retry {counted(len(folders), 'run')}?", abort=True, err=True)
