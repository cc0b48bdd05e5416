"""`mlecore data list`: which data are prepared, and where."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.shared import competitions_named, data_option, json_option, print_json, print_table, split_option


@click.command("list")
@competitions_named("ids")
@split_option
@data_option
@json_option
def command(ids: tuple[str, ...], split: tuple[str, ...], data: tuple[Path, ...], as_json: bool) -> None:
    """List prepared data: of all competitions, or of some.

    AS PUBLISHED: the data equal the published ones.
    """
    from attrs import asdict

    from mlecore.data.layout import DataDirs
    from mlecore.plugins.competitions import working
    from mlecore.util.units import show_size

    dirs = DataDirs.of(data)
    wanted = {*ids, *(plugin.name for name in split for plugin in working(name))}
    found = [prepared for prepared in dirs.all() if prepared.competition in wanted or not (ids or split)]
    if as_json:
        print_json(
            [
                {
                    "id": prepared.competition,
                    "edition": prepared.edition,
                    "synthetic": prepared.synthetic,
                    "root": str(prepared.root),
                    "sealed": str(prepared.sealed) if prepared.sealed else None,
                    "manifest": None if prepared.manifest is None else asdict(prepared.manifest),
                }
                for prepared in found
            ]
        )
        return
    if not found:
        click.echo(f"Nothing is prepared in {', '.join(map(str, dirs.dirs))}.")
        return
    rows = []
    for prepared in found:
        head = prepared.manifest
        known = (
            ["mle-bench, not yet verified", "-", "-"]
            if head is None
            else [head.source, show_size(head.bytes), "yes" if head.verified else "no"]
        )
        sealed = f", answers in {prepared.sealed}" if prepared.sealed else ""
        rows.append([prepared.competition, prepared.edition, *known, str(prepared.root) + sealed])
    print_table(["ID", "EDITION", "FROM", "SIZE", "AS PUBLISHED", "WHERE"], rows)
