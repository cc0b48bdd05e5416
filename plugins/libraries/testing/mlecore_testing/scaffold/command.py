"""`mlecore new`: write a new plugin package that installs, passes the conformance kit, and is yours to change."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mlecore.cli import Commands
from mlecore_testing.scaffold import Package, package, write

F = TypeVar("F", bound=Callable[..., Any])


@click.group("new", cls=Commands, own=(), of="new")
def command() -> None:
    """Create a new plugin package.

    It works at once: install it, run its tests, then change it.
    """


def named(function: F) -> F:
    """NAME and --into."""
    into = click.Path(file_okay=False, path_type=Path)
    function = click.option("--into", type=into, default=Path(), help="Parent folder.  [default: current directory]")(
        function
    )
    return click.argument("name")(function)


@click.command()
@named
@click.option("--model", is_flag=True, help="An agent that calls its model, with a tool loop.")
def agent(name: str, into: Path, model: bool) -> None:
    """Create a new agent.

    NAME is the agent's name for users, e.g. `my-agent`. The package, here
    mle-agent-my-agent, is written to a folder of the same name.
    """
    write_and_tell(package("agent", name, "model" if model else "script"), into)


@click.command()
@named
def backend(name: str, into: Path) -> None:
    """Create a new backend.

    NAME is the backend's name for users, e.g. `my-cluster`. The package, here
    mle-backend-my-cluster, is written to a folder of the same name.
    """
    write_and_tell(package("backend", name), into)


@click.command()
@named
def detector(name: str, into: Path) -> None:
    """Create a new detector.

    NAME is the detector's name for users, e.g. `my-check`. The package, here
    mle-detector-my-check, is written to a folder of the same name.
    """
    write_and_tell(package("detector", name), into)


def write_and_tell(package: Package, into: Path) -> None:
    """Write the package and print what to do next. Raises UsageError if its folder exists."""
    folder = write(package, into)
    shown = shlex.quote(str(folder))
    click.echo(f"Wrote {shown}. What to do next:")
    for line in (
        f"{shlex.join(installer())} install -e {shown}",
        f"pytest {shown}",
        f"mlecore plugins show {package.name} --kind {package.kind}",
    ):
        click.echo(f"  {line}")
    click.echo(f"{shown}/README.md says what to change; docs/publishing.md of mlecore explains how to publish it.")


def installer() -> list[str]:
    """What this environment installs packages with: `make env` makes one without pip, as uv does."""
    from importlib.util import find_spec

    return ["uv", "pip"] if find_spec("pip") is None else ["pip"]
