"""`mlecore data verify`: are prepared data still as they were prepared?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from mlecore.cli.shared import (
    choose,
    competitions_named,
    data_option,
    edition_option,
    json_option,
    print_json,
    split_option,
    synthetic_option,
)

_SHOWN = 20  # problems of one competition


@click.command("verify")
@competitions_named("ids")
@split_option
@synthetic_option
@data_option
@edition_option
@json_option
def command(
    ids: tuple[str, ...],
    split: tuple[str, ...],
    synthetic: bool,
    data: tuple[Path, ...],
    edition: str,
    as_json: bool,
) -> None:
    """Verify every file of prepared data against its hash.

    For a split, verifies the competitions that are prepared. Exit code 1: something differs.
    """
    from mlecore.cli._progress import watching
    from mlecore.data.layout import DataDirs
    from mlecore.data.recheck import recheck

    dirs = DataDirs.of(data)
    rows: list[dict[str, Any]] = []
    with watching() as observer:
        for found in choose(ids, split, edition):
            if found.id in ids or dirs.find(found.id, edition, synthetic):
                problems = recheck(found, dirs, synthetic, partial(observer.progress, found.id))
                rows.append({"id": found.id, "intact": not problems, "problems": problems})
    if as_json:
        print_json(rows)
    for row in [] if as_json else rows:
        problems = row["problems"]
        click.echo(f"{row['id']}: {'not intact:' if problems else 'intact'}")
        for problem in problems[:_SHOWN]:
            click.echo(f"  {problem}")
        if len(problems) > _SHOWN:
            click.echo(f"  ... and {len(problems) - _SHOWN} more")
    if any(row["problems"] for row in rows):
        raise click.exceptions.Exit(1)
