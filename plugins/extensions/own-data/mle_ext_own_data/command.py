"""`mlecore new competition`: from an example, or from a user's own data."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli.shared import echo, print_table
from mlecore.errors import UsageError
from mlecore_testing.scaffold.command import installer, named, write_and_tell

if TYPE_CHECKING:
    from mle_ext_own_data.draft import Draft


@click.command()
@named
@click.option("--images", is_flag=True, help="Start from an example with pictures.")
@click.option("--groups", is_flag=True, help="Start from one whose rows belong to groups, such as patients.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="Your data: a CSV or Parquet file, or a folder with one table beside files, or with a folder for each class.",
)
@click.option("--target", "targets", multiple=True, metavar="COLUMN", help="To predict; several: repeat it.")
@click.option(
    "--metric", metavar="NAME", help="Such as roc-auc, log-loss, accuracy, rmse, mae.  [default: by the target]"
)
@click.option("--id", metavar="COLUMN", help="Names the rows.  [default: found, or a new column]")
@click.option("--group", metavar="COLUMN", help="Rows of one group, such as a patient, are in one part of the split.")
@click.option("--time", metavar="COLUMN", help="The test part is later than the training part.")
@click.option("--files", type=click.Path(path_type=Path), metavar="DIR", help="Pictures, sounds or texts of the rows.")
@click.option("--file-column", metavar="COLUMN", help="Names each row's file.  [default: found]")
@click.option("--test-size", type=float, metavar="SHARE", help="Share of the rows in the test part.  [default: 0.2]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="In no file for agents; several: repeat it.")
@click.option("--include-data", is_flag=True, help="Put your data, with the answers, into the package.")
@click.option("--dry-run", is_flag=True, help="Show what was inferred, and write nothing.")
@click.pass_context
def command(
    ctx: click.Context, /, name: str, into: Path, images: bool, groups: bool, source: Path | None, **asked: Any
) -> None:
    """Create a new competition, from an example or from your own data.

    NAME is the competition's name for users, e.g. `my-problem`. The package,
    here mle-comp-my-problem, is written to a folder of the same name.

    With --from, the package works at once: it is installed, prepared, and
    searched for leaks. Exit codes: 0 good, 1 something leaks, 2 usage error, 3
    something could not be examined.

    \b
    mlecore new competition my-problem
    mlecore new competition my-churn --from churn.csv --target churned --dry-run
    mlecore new competition my-scans --from scans/ --target ill --group patient
    """
    if source is not None:
        if images or groups:
            raise UsageError("--images and --groups start from an example, --from from data: name only one of them")
        return _from_data(ctx, name, into, source, **asked)
    for parameter in ctx.command.params:
        if asked.get(str(parameter.name)):
            raise UsageError(f"{parameter.opts[0]} needs your data", fix="Name them: --from TABLE")
    if images and groups:
        raise UsageError("--images and --groups cannot be used together", fix="Name one of them.")
    from mle_ext_own_data.examples import example

    return write_and_tell(example(name, "images" if images else "groups" if groups else "tabular"), into)


def _from_data(
    ctx: click.Context,
    name: str,
    into: Path,
    source: Path,
    files: Path | None,
    include_data: bool,
    dry_run: bool,
    **asked: Any,
) -> None:
    from mle_ext_own_data import folders, installing
    from mle_ext_own_data.examples import example
    from mle_ext_own_data.inference import Asked, infer
    from mle_ext_own_data.writing import write_competition

    package = example(name)
    if (folder := into / package.distribution).exists() and not dry_run:
        raise UsageError(f"{folder} already exists; nothing was written", fix="Remove it, or name another --into.")
    draft = infer(folders.read(source, files), Asked(name=name, title=package.title, **asked))
    _show(draft)
    if dry_run:
        return
    written = write_competition(draft, into, include_data=include_data)
    for note in written.notes:
        echo(f"Note: {note}.")
    shown = shlex.quote(str(written.folder))
    echo(f"Wrote {shown}.")
    installing.install(written.folder)
    echo("Installed it into this environment, editable: changes of its files count at once.")
    failed = installing.mlecore("prepare", name, "--force")
    code = failed or installing.mlecore("audit", name)
    again = f"{shlex.join(installer())} uninstall {package.distribution} && rm -r {shown}"
    echo("What to do next:")
    if failed or code == 1:
        echo(f"  {again}  # then the same command again, with what is advised above")
    else:
        echo(f"  mlecore run --agent baseline --competition {name}")
        echo(f"  mlecore competitions calibrate {name}  # reference scores, as there is no human leaderboard")
        echo(f"  pytest {shown}")
    echo(f"{shown}/README.md says what else can be changed.")
    ctx.exit(code)


def _show(draft: Draft) -> None:
    from mle_ext_own_data.shown import HEADER, table

    print_table(HEADER, table(draft))
    for note in draft.notes:
        echo(f"Note: {note}")
