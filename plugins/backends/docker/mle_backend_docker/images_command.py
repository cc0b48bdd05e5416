"""The verb `mlecore images`: what backend docker has built for agents."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from mlecore.options import pairs


@click.group()
def command() -> None:
    """Images that backend docker has built for agents."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_(as_json: bool) -> None:
    """What is there, newest first."""
    from attrs import asdict

    from mle_backend_docker.engine import Engine
    from mle_backend_docker.images import listing

    found = listing(Engine())
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=1))
        return
    for each in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.created))
        name = ", ".join(each.tags) or each.id[:19]
        click.echo(f"{name:40} {when} {each.size / 1e6:8.0f} MB {'in use' if each.used else ''}".rstrip())
    if not found:
        click.echo("none")


@command.command()
@click.argument("agent")
@click.option("-A", "agent_options", multiple=True, metavar="NAME=VALUE", help="Option of the agent.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="Option of the backend.")
@click.option(
    "--log", type=click.Path(path_type=Path), help="Where the build's log goes; default: shown when it fails."
)
def build(agent: str, agent_options: tuple[str, ...], backend_options: tuple[str, ...], log: Path | None) -> None:
    """Build the image of AGENT without starting a run."""
    import tempfile

    from mle_backend_docker.backend import DockerBackend
    from mlecore.agents import Recipe
    from mlecore.options import resolve
    from mlecore.registry.loading import load

    loaded = load("agent", agent)
    options = resolve(loaded.call("agent").options, pairs(agent_options, "-A"), f"agent {agent}")
    recipe = loaded.call("recipe", options=options) if loaded.implements("recipe") else Recipe()
    backend = DockerBackend(resolve(DockerBackend.options, pairs(backend_options, "-B"), "backend docker"))
    if log is None:
        log = Path(tempfile.gettempdir()) / f"mlecore-build-{recipe.digest()[:12]}.log"
    image = backend.build(recipe, log)
    click.echo(f"{image.ref} {image.digest}")


@command.command()
def prune() -> None:
    """Remove those that no container uses."""
    from mle_backend_docker.engine import Engine
    from mle_backend_docker.images import prune as prune_images

    removed, freed = prune_images(Engine())
    click.echo(f"removed {len(removed)} images, {freed / 1e6:.0f} MB")
