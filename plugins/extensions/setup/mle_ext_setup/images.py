"""`mlecore images`: what backends have built for agents, as images or environments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import AGENT, BACKEND
from mlecore.cli.shared import backend_config_option, backend_options_of, echo, json_option, print_json, print_table
from mlecore.errors import BackendError, MlecoreError, UsageError
from mlecore.util.units import counted, show_size

if TYPE_CHECKING:
    from mlecore.model.backends import Backend, CachedImage

_of_backend = click.option(
    "--backend", "name", type=BACKEND, show_default="all installed", help="Only images built by this backend."
)


@click.group("images")
def command() -> None:
    """Build, list, remove and push images and environments of agents."""


@command.command("list")
@_of_backend
@json_option
def list_(name: str | None, as_json: bool) -> None:
    """List images built for agents. Layers shared with other images are not counted."""
    from attrs import asdict

    found = list(_built(name))
    if as_json:
        print_json([{"backend": backend, **asdict(each)} for backend, _, each in found])
    else:
        _show(found)
        click.echo(f"{counted(len(found), 'image')}, {show_size(sum(each.size for *_, each in found))}")


@command.command()
@click.argument("agent", type=AGENT)
@click.option("-A", "agent_options", multiple=True, metavar="NAME=VALUE", help="Option for the agent.")
@click.option("--backend", type=BACKEND, default="vm", show_default=True, help="Backend to build it with.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="Option for the backend.")
@backend_config_option
@click.option("--log", type=click.Path(path_type=Path), help="File for the build log.  [default: a temporary file]")
def build(
    agent: str,
    agent_options: tuple[str, ...],
    backend: str,
    backend_options: tuple[str, ...],
    backend_config: Path | None,
    log: Path | None,
) -> None:
    """Build the image or environment of AGENT, without starting a run."""
    import tempfile

    from mlecore.model.agents import Recipe
    from mlecore.model.options import pairs, resolve
    from mlecore.plugins.loading import load
    from mlecore.plugins.opening import open_backend

    loaded = load("agent", agent)
    options = resolve(loaded.call("agent").options, pairs(agent_options, "-A"), f"agent {agent}")
    recipe = loaded.call("recipe", options=options) if loaded.implements("recipe") else Recipe()
    opened = open_backend(backend, backend_options_of(backend_options, backend_config)).backend
    image = opened.build(recipe, log or Path(tempfile.gettempdir()) / f"mlecore-build-{recipe.digest()[:12]}.log")
    click.echo(f"{image.ref or 'nothing to install'} {image.digest}")


@command.command()
@_of_backend
@click.option(
    "--all", "everyones", is_flag=True, help="Include images built by other users or installations of mlecore."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def prune(name: str | None, everyones: bool, yes: bool) -> None:
    """Remove images that no job uses.

    Only images built by this user's installation of mlecore are removed, unless --all is given.
    """
    chosen = [(of, backend, each) for of, backend, each in _built(name) if not each.used and (everyones or each.ours)]
    _show(chosen)
    if chosen and not yes:
        click.confirm(f"Remove {counted(len(chosen), 'image')}?", abort=True)
    removed, freed = 0, 0
    for where, backend in _backends(name):
        gone, size = backend.prune([each for of, _, each in chosen if of == where])
        removed, freed = removed + len(gone), freed + size
    click.echo(f"removed {counted(removed, 'image')}, {show_size(freed)}")


@command.command()
@click.option(
    "--registry", required=True, metavar="HOST[/PROJECT]", help="Registry to push to; log in with `docker login` first."
)
@click.option("--backend", type=BACKEND, default="docker", show_default=True, help="Backend that built them.")
def push(registry: str, backend: str) -> None:
    """Push images to a registry, for backends elsewhere.

    Pushes the images built by this user's installation of mlecore.
    """
    found = [(opened, each) for _, opened, each in _built(backend) if each.ours]
    for opened, each in found:
        click.echo(opened.push(each, registry))
    if not found:
        echo(f"none to push: `mlecore images build AGENT --backend {backend}` builds one", err=True)


def _backends(name: str | None) -> Iterator[tuple[str, Backend]]:
    """The backend of this name, or all that can be opened without options."""
    from mlecore.plugins.discovery import installed
    from mlecore.plugins.opening import open_backend

    for each in [name] if name else [plugin.name for plugin in installed("backend") if plugin.state == "ok"]:
        try:
            yield each, open_backend(each).backend
        except MlecoreError as error:
            if name:
                raise
            if not isinstance(error, UsageError):  # one that needs options is left out silently
                echo(f"backend {each} is left out: {error}", err=True)


def _built(name: str | None) -> Iterator[tuple[str, Backend, CachedImage]]:
    """Backend by backend. Where all are asked, one that does not answer is left out, with a note."""
    for each, backend in _backends(name):
        try:
            for found in backend.cached_images():
                yield each, backend, found
        except BackendError as error:
            if name:
                raise
            echo(f"backend {each} is left out: {error}", err=True)


def _show(found: list[tuple[str, Backend, CachedImage]]) -> None:
    rows = []
    for backend, _, each in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.created))
        marks = ["in use"] * each.used + [f"of {each.owner or 'an unknown owner'}"] * (not each.ours)
        what = "; ".join(filter(None, [*marks, each.about]))
        rows.append([backend, each.name, when, show_size(each.size), what])
    if rows:
        print_table(["BACKEND", "NAME", "BUILT", "SIZE", "WHAT"], rows)
