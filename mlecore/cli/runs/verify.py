"""`mlecore runs verify`: check a group or a bundle against its digests, and perhaps grade it again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from mlecore.cli._names import GROUP
from mlecore.cli._shared import data_option, echo, runs_option
from mlecore.errors import UsageError
from mlecore.units import counted


@click.command("verify")
@click.argument("name", type=GROUP, metavar="GROUP | BUNDLE")
@click.option("--regrade", is_flag=True, help="Grade every submission again; needs the prepared data.")
@data_option
@runs_option
def command(name: str, regrade: bool, data: tuple[Path, ...], runs: Path) -> None:
    """Check a group, or a bundle (a folder or zip) that `mlecore runs export` wrote, against its digests.

    Checks every record, submission and grade of a group. Exit code 1 if something is not what it should be, 3 if a run
    could not be graded again.
    """
    from mlecore.runs.store import is_group
    from mlecore.sharing.bundle import HEAD

    folder = runs / name if (runs / name).exists() else Path(name)
    if not folder.exists():
        raise UsageError(f"there is no group {name!r} in {runs}, nor a bundle", fix="To see groups: mlecore runs list")
    if (folder / HEAD).is_file() or not is_group(folder):
        _verify_bundle(folder, regrade, data)
        return
    _verify_group(folder)
    if regrade:
        _regrade(folder, data)


def _verify_group(folder: Path) -> None:
    from mlecore.runs.digests import problems
    from mlecore.runs.store import load_group

    wrong: list[str] = []
    records = [record for record in load_group(folder, wrong) if record.attempts]
    for record in records:
        found = problems(record) if record.digests else ["its record has no digests, so that changes cannot be seen"]
        wrong += [f"{folder.name}: {record.name}: {problem}" for problem in found]
    for line in wrong:
        echo(line)
    if wrong:
        raise click.exceptions.Exit(1)
    echo(f"{folder.name}: {counted(len(records), 'run')}, all as they were written")


def _verify_bundle(bundle: Path, regrade: bool, data: tuple[Path, ...]) -> None:
    from mlecore.errors import DataError
    from mlecore.sharing.bundle import OpenBundle, problems, read_bundle, unpack

    with OpenBundle(bundle) as source:
        try:
            found = read_bundle(source)
            wrong = problems(source, found)
        except DataError as error:
            wrong = [error.message]
        if wrong:
            for line in wrong:
                echo(line)
            raise click.exceptions.Exit(1)
        echo(f"{found.group}: {counted(found.runs, 'run')}, all {len(found.files)} files are as they were exported")
        if regrade:
            with tempfile.TemporaryDirectory() as folder:
                unpack(source, found, Path(folder, found.group))
                _regrade(Path(folder, found.group), data)


def _regrade(group: Path, data: tuple[Path, ...]) -> None:
    from mlecore.data.layout import DataDirs
    from mlecore.sharing.regrade import regrade

    results = list(regrade(group, DataDirs.of(data)))
    for result in results:
        for line in result.different:
            echo(f"{result.run}: {line}")
        if result.undecided:
            echo(f"{result.run}: could not be graded again: {result.undecided}", err=True)
    undecided = sum(bool(result.undecided) for result in results)
    different = sum(bool(result.different) for result in results)
    same = len(results) - undecided - different
    echo(f"graded again: {same} the same, {different} different, {undecided} undecided")
    if different or undecided:
        raise click.exceptions.Exit(1 if different else 3)
