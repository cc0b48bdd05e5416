"""`mlecore runs verify`: is a bundle what was exported, and do its submissions earn what it says?"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from mlecore.cli._shared import data_option, echo


@click.command("verify")
@click.argument("bundle", type=click.Path(path_type=Path, exists=True))
@click.option("--regrade", is_flag=True, help="Grade every submission again; needs the prepared data.")
@data_option
def command(bundle: Path, regrade: bool, data: tuple[Path, ...]) -> None:
    """Check each file of BUNDLE, a folder or zip that `mlecore runs export` wrote, against its hash.

    Exit code 1 where a file or a grade is not what it should be, 3 where a run could not be graded again.
    """
    from mlecore.errors import DataError
    from mlecore.sharing.bundle import Source, problems, read_bundle, unpack

    with Source(bundle) as source:
        try:
            found = read_bundle(source)
            wrong = problems(source, found)
        except DataError as error:
            wrong = [error.message]
        if wrong:
            for line in wrong:
                echo(line)
            raise click.exceptions.Exit(1)
        echo(f"{found.group}: {found.runs} runs, all {len(found.files)} files are as they were exported")
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
