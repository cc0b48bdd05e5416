"""The command `mlecore export harbor`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mlecore.cli.shared import choose, competitions_named, data_option, edition_option, split_option, synthetic_option
from mlecore.util.units import counted, limit_seconds, size

if TYPE_CHECKING:
    from mle_ext_harbor.reward import RewardKind


@click.group("export")
def command() -> None:
    """Export competitions in the format of another harness."""


@command.command("harbor")
@competitions_named("ids")
@split_option
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="New folder to write to.")
@synthetic_option
@click.option(
    "--delivery",
    type=click.Choice(["mount", "image"]),
    default="mount",
    show_default=True,
    help="Mount this machine's data, or build images that contain them, for other machines and for verifiers.",
)
@click.option(
    "--repository", metavar="PREFIX", help="Prefix of the images' names, e.g. ghcr.io/my-lab.  [default: mlecore]"
)
@click.option(
    "--reward",
    type=click.Choice(["medal", "position", "percentile"]),
    default="medal",
    show_default=True,
    help="What counts, from 0 to 1: a medal; for training, the position between the sample submission and gold, or the "
    "percentile on the leaderboard.",
)
@click.option("--image", default="python:3.11-slim-bookworm", show_default=True, help="Base image for the agent.")
@click.option(
    "--verifier-image",
    help="Base image for the verifier, with mlecore installed.  [default: --image, and pip installs mlecore]",
)
@click.option(
    "--no-verifier",
    is_flag=True,
    help="Build no image with answers: mle-ext-verifiers grades on its own machine.",
)
@click.option("--time-limit", default="24h", show_default=True, help="Time limit per run, e.g. 24h or 90m.")
@click.option("--cpus", type=float, help="CPUs per run.")
@click.option("--memory", help="Memory per run, e.g. 16GB.")
@click.option("--gpus", type=int, default=0, show_default=True, help="GPUs per run.")
@click.option("--allow", multiple=True, metavar="HOST", help="Host that the agent may reach; repeatable.")
@click.option("--network", type=click.Choice(["none", "open"]), help="Network of the agent.  [default: open]")
@data_option
@edition_option
def harbor(
    ids: tuple[str, ...],
    split: tuple[str, ...],
    out: Path,
    synthetic: bool,
    delivery: str,
    repository: str | None,
    reward: RewardKind,
    image: str,
    verifier_image: str | None,
    no_verifier: bool,
    time_limit: str,
    cpus: float | None,
    memory: str | None,
    gpus: int,
    allow: tuple[str, ...],
    network: Literal["none", "open"] | None,
    data: tuple[Path, ...],
    edition: str,
) -> None:
    """Write competitions as task folders for Harbor and verifiers.

    The tasks mount the prepared data of this machine, so they run in Harbor's Docker environment here. With --delivery
    image, this machine's Docker engine builds two images for each competition: the agent's with the public data, and
    the verifier's with the answers. For verifiers, add --no-verifier.
    """
    from mle_ext_harbor.exporting import Settings, export
    from mlecore.errors import UsageError
    from mlecore.model.record import Limits

    chosen = [found.id for found in choose(ids, split, edition)]
    if allow and network:
        raise UsageError("--allow and --network cannot be used together", fix="Use --allow alone.")
    if delivery == "mount" and (repository or no_verifier):
        raise UsageError("--repository and --no-verifier need --delivery image", fix="Add it.")
    settings = Settings(
        edition=edition,
        synthetic=synthetic,
        data=tuple(str(path) for path in data),
        image=image,
        verifier_image=verifier_image,
        verifier=not no_verifier,
        repository=(repository or "mlecore") if delivery == "image" else None,
        reward=reward,
        limits=Limits(
            time=limit_seconds(time_limit),
            cpus=cpus,
            memory=size(memory) if memory else None,
            gpus=gpus,
            network="llm" if allow else network or "open",
            allow=allow,
        ),
    )
    export(chosen, out, settings, say=lambda text: click.echo(text, err=True))
    place = shlex.quote(str(out))
    check = f"To check them: vf-validate mle-ext-verifiers --taskset.path {place} --runtime.type docker"
    run = f"To run them: harbor run -p {place} -a AGENT -m MODEL"
    click.echo(f"{counted(len(chosen), 'task')} in {out}. {check if no_verifier else run}")
