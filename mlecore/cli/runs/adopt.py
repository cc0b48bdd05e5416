"""`mlecore runs adopt`: take over a group from elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import GROUP
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import echo, runs_option


@click.command("adopt")
@click.argument("name", type=GROUP, metavar="GROUP")
@runs_option
def command(name: str, runs: Path) -> None:
    """Make a copied or moved group your own.

    A group that another user created, or that was copied or moved, is read-only until you adopt it: its records name
    jobs and folders that commands act on. Check it first with `mlecore runs verify GROUP`.
    """
    from mlecore.runs.contents import check_group, check_run
    from mlecore.runs.lock import GroupLock
    from mlecore.runs.ownership import adopt, is_own
    from mlecore.runs.store import open_group

    group = open_group(group_folder(runs, name))
    if is_own(group):
        echo(f"{group.name} is already yours")
        return
    check_group(group.folder)
    for run in group.plan.runs():
        check_run(group.folder / run.name)
    with GroupLock(group.folder):
        adopt(group)
    echo(f"{group.name} is yours now. To resume it: mlecore runs resume {group.name}")
