"""`mlecore runs verify`: check that a group or a bundle is whole and unchanged, and perhaps grade it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli._names import GROUP
from mlecore.cli._shared import data_option, echo, runs_option
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.runs.verifying import Exported


@click.command("verify")
@click.argument("name", type=GROUP, metavar="GROUP | BUNDLE")
@click.option("--regrade", is_flag=True, help="Grade every submission again; needs the prepared data.")
@data_option
@runs_option
def command(name: str, regrade: bool, data: tuple[Path, ...], runs: Path) -> None:
    """Verify a group or an exported bundle against its hashes.

    Compares the runs with the plan, and records, submissions, grades, logs, code, snapshots and findings with their
    hashes. Exit code 1 if something is missing or changed; 3 if that cannot be decided, e.g. without an export's
    list of hashes, or if a run could not be graded again.
    """
    from mlecore.runs.store import is_group
    from mlecore.runs.verifying import verify_group
    from mlecore.sharing.bundle import HEAD

    path = runs / name if (runs / name).exists() else Path(name)
    if not path.exists():
        raise UsageError(f"there is no group {name!r} in {runs}, nor a bundle", fix="To see groups: mlecore runs list")
    is_bundle = (path / HEAD).is_file() or not is_group(path)
    with _bundle(path) if is_bundle else _group(path) as (folder, exported, intact):
        verdict = verify_group(folder, exported)
        for line in (*verdict.wrong, *verdict.undecided):
            echo(line)
        if verdict.wrong:
            raise click.exceptions.Exit(1)
        if not verdict.undecided:
            echo(f"{folder.name}: {verdict}, {intact}")
        code = _regrade(folder, data) if regrade else 0
    raise click.exceptions.Exit(code or (3 if verdict.undecided else 0))


@contextmanager
def _group(folder: Path) -> Iterator[tuple[Path, Exported | None, str]]:
    yield folder, None, "all as they were written"


@contextmanager
def _bundle(path: Path) -> Iterator[tuple[Path, Exported | None, str]]:
    """A bundle's files in a folder, once they are what its list says."""
    import tempfile

    from mlecore.errors import DataError
    from mlecore.runs.verifying import Exported
    from mlecore.sharing.bundle import OpenBundle, problems, read_bundle, unpack

    with OpenBundle(path) as source, tempfile.TemporaryDirectory() as temporary:
        try:
            found = read_bundle(source)
            wrong = problems(source, found)
        except DataError as error:
            wrong = [error.message]
        for line in wrong:
            echo(line)
        if wrong:
            raise click.exceptions.Exit(1)
        folder = path
        if not path.is_dir():
            folder = Path(temporary, path.stem)
            unpack(source, found, folder)
        yield folder, Exported(not_started=found.not_started), f"all {len(found.files)} files are as they were exported"


def _regrade(group: Path, data: tuple[Path, ...]) -> int:
    """The exit code."""
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
    return 1 if different else 3 if undecided else 0
