"""`mlecore runs resume`: resume a group."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from mlecore.cli.names import COMPETITION, GROUP
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import data_option, echo, json_option, runs_option


@click.command("resume")
@click.argument("name", type=GROUP, metavar="GROUP")
@click.option("--seeds", help="Add runs: up to this many seeds, or with these (0,3,7; a single one: 7,).")
@click.option("--competition", "competitions", type=COMPETITION, multiple=True, help="Add a competition; repeatable.")
@click.option("--max-parallel", type=click.IntRange(1), help="Maximum number of runs at once.")
@click.option("--retries", type=click.IntRange(0), help="Retries per run after infrastructure failures.")
@click.option("--model-check/--no-model-check", default=None, help="Call each model once before runs start.")
@data_option
@runs_option
@json_option
def command(
    name: str,
    seeds: str | None,
    competitions: tuple[str, ...],
    max_parallel: int | None,
    retries: int | None,
    model_check: bool | None,
    data: tuple[Path, ...],
    runs: Path,
    as_json: bool,
) -> None:
    """Resume a group whose controller has stopped.

    Takes over running runs, starts waiting ones, and grades finished ones. --seeds and --competition add runs under the
    same conditions, which group.json records.
    """
    from mlecore.cli.run import perform
    from mlecore.controller.experiment import read_inputs
    from mlecore.runs.extending import extend
    from mlecore.runs.planning import carried_out
    from mlecore.runs.store import open_group

    folder = group_folder(runs, name)
    group = open_group(folder)
    for added in competitions:  # what cannot run is no part of a plan
        read_inputs(
            added, group.plan, [str(path.absolute()) for path in data] or group.info.data, partial(echo, err=True)
        )
    group = extend(group, seeds, competitions)
    plan = carried_out(group.plan, max_parallel=max_parallel, retries=retries, model_check=model_check)
    perform(plan, folder.name, folder.parent, data, as_json)
