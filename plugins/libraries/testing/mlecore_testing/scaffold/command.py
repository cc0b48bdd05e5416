"""`mlecore new`: write a new plugin package that installs, passes the conformance kit, and is yours to change."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from mlecore.errors import UsageError
from mlecore_testing.scaffold import EXAMPLES, KINDS, names, write


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Parent folder.  [default: current directory]",
)
@click.option("--images", is_flag=True, help="A competition with pictures.")
@click.option("--groups", is_flag=True, help="A competition whose rows belong to groups, such as patients.")
@click.option("--model", is_flag=True, help="An agent that calls its model, with a tool loop.")
def command(kind: str, name: str, into: Path, **examples: bool) -> None:
    """Write a new plugin package.

    NAME is the plugin's name for users, e.g. `my-problem`. The package, here
    mle-comp-my-problem, is written to a folder of the same name. It works at
    once: install it, run its tests, then change it.
    """
    chosen = [example for example, given in examples.items() if given]
    for example in chosen:
        if example not in EXAMPLES[kind]:
            fix = f"Leave it out: mlecore new {kind} {name}"
            raise UsageError(f"mlecore new {kind} has no --{example}", fix=fix)
    if len(chosen) > 1:
        raise UsageError(f"--{' and --'.join(chosen)} cannot be used together", fix="Name one of them.")
    folder = write(names(kind, name, *chosen), into)
    shown = shlex.quote(str(folder))
    click.echo(f"Wrote {shown}. What to do next:")
    for line in (
        f"{_installer()} install -e {shown}",
        f"pytest {shown}",
        f"mlecore plugins show {name} --kind {kind}",
    ):
        click.echo(f"  {line}")
    click.echo(f"{shown}/README.md says what to change; docs/publishing.md of mlecore explains how to publish it.")


def _installer() -> str:
    """What this environment installs packages with: `make env` makes one without pip, as uv does."""
    from importlib.util import find_spec

    return "uv pip" if find_spec("pip") is None else "pip"
