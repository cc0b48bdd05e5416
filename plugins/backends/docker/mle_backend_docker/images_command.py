"""The verb `mlecore images`: what backend docker has built for agents."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mle_backend_docker.names import REPOSITORY
from mlecore.options import pairs
from mlecore.submissions.messages import counted

if TYPE_CHECKING:
    from mle_backend_docker.built import Built


@click.group()
def command() -> None:
    """Images that backend docker has built for agents."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_(as_json: bool) -> None:
    """What is there, whoever built it, newest first. Sizes leave out what an image shares with others."""
    from attrs import asdict

    from mle_backend_docker.built import listing
    from mle_backend_docker.engine import Engine

    found = listing(Engine())
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=1))
        return
    for each in found:
        _show(each)
    if not found:
        click.echo("none")


def _show(image: Built) -> None:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(image.created))
    marks = ["in use"] * image.used + [f"of {image.owner or 'an unknown owner'}"] * (not image.ours)
    click.echo(f"{image.name:40} {when} {image.size / 1e6:8.1f} MB {', '.join(marks)}".rstrip())


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
@click.option("--registry", required=True, metavar="HOST[/PROJECT]", help="Where they go; log in with `docker login`.")
def push(registry: str) -> None:
    """Push the images that this user's installation of mlecore built to a registry, for backends elsewhere.

    Prints the name of each by digest.
    """
    import io

    from mle_backend_docker.built import listing
    from mle_backend_docker.engine import Engine
    from mle_backend_docker.pushing import push as push_image

    engine = Engine()
    tags = [tag for image in listing(engine) if image.ours for tag in image.tags if tag.startswith(f"{REPOSITORY}:")]
    for tag in tags:
        click.echo(push_image(engine, tag, registry, io.StringIO()))
    if not tags:
        click.echo("none to push: `mlecore images build AGENT` builds one", err=True)


@command.command()
@click.option("--all", "everyones", is_flag=True, help="Also those that other users or installations built.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(everyones: bool, yes: bool) -> None:
    """Remove those that this user's installation of mlecore built and that no container uses.

    It shows them and asks first. A run that needs one later builds it again.
    """
    from mle_backend_docker import built
    from mle_backend_docker.engine import Engine

    engine = Engine()
    chosen = built.prunable(engine, everyones=everyones)
    for each in chosen:
        _show(each)
    if chosen and not yes:
        click.confirm(f"Remove {counted(len(chosen), 'image')}?", abort=True)
    removed, freed = built.prune(engine, chosen)
    click.echo(f"removed {counted(len(removed), 'image')}, {freed / 1e6:.1f} MB")
