"""`mlecore run`: let agents work on competitions."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._shared import (
    data_option,
    edition_option,
    json_option,
    print_json,
    record_json,
    runs_option,
    synthetic_option,
)
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.controller.api import Done
    from mlecore.runs.plan import Plan


@click.command("run")
@click.option("--agent", help="Name of the agent.")
@click.option("-A", "agent_options", multiple=True, metavar="NAME=VALUE", help="An option of the agent.")
@click.option("--competition", "competitions", multiple=True, metavar="ID", help="A competition; may be given again.")
@click.option("--split", help="All installed competitions of a split: lite, low, medium, high or dev.")
@click.option("--backend", default="vm", show_default=True, help="Where the agent's process runs.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="An option of the backend.")
@click.option("--seeds", type=click.IntRange(1), help="So many runs of each, with the seeds 0, 1, ...  [default: 1]")
@click.option("--seed", "seed", type=int, multiple=True, help="A seed by its number; may be given again.")
@click.option("--time-limit", default="24h", show_default=True, help="Of one run: 24h, 90m, 1h30m, 3600.")
@click.option("--cpus", type=float, help="Of one run.")
@click.option("--memory", help="Of one run: 16GB, 512MiB.")
@click.option("--gpus", type=click.IntRange(0), default=0, help="Of one run; two runs never share one.")
@click.option("--disk", help="What one run may write: 100GB.")
@click.option("--model", help="The model that the agent works with.")
@click.option("--endpoint", metavar="URL", help="Where the model is.")
@click.option("--network", is_flag=True, help="Give runs an open network. [default: none, or a relay to the model]")
@click.option("--allow", multiple=True, metavar="HOST", help="A host that the relay lets through; may be given again.")
@click.option("--group", help="Name of the group; one that is there goes on. [default: a new one]")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="A whole experiment as a TOML file instead.")
@click.option("--max-parallel", type=click.IntRange(1), help="At most so many runs at once.")
@click.option("--retries", type=click.IntRange(0), help="New attempts after the place's faults.  [default: 2]")
@synthetic_option
@edition_option
@data_option
@runs_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    plan_file: Path | None,
    group: str | None,
    max_parallel: int | None,
    retries: int | None,
    data: tuple[Path, ...],
    runs: Path,
    as_json: bool,
    **flags: Any,
) -> None:
    """Let agents work on competitions in sandboxes, then grade what they leave.

    Makes a group of runs in the folder of --runs: one for each agent, competition and seed. Ctrl-C stops this command,
    not the runs; `mlecore runs resume GROUP` goes on, as does the same command with its --group. Exit code 3 where
    runs failed or are not at their end.
    """
    from attrs import evolve

    from mlecore.runs.plan import read_plan

    if plan_file is not None:
        given = [name for name in flags if _is_given(context, name)]
        if given:
            raise UsageError(f"--plan says it all: leave out {', '.join(map(_flag, given))}, or change the file")
        plan = read_plan(plan_file)
        plan = evolve(
            plan,
            max_parallel=plan.max_parallel if max_parallel is None else max_parallel,
            retries=plan.retries if retries is None else retries,
        )
    else:
        plan = plan_of(max_parallel=max_parallel, retries=2 if retries is None else retries, **flags)
    perform(plan, group, runs, data, as_json)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def _flag(name: str) -> str:
    special = {"agent_options": "-A", "backend_options": "-B", "competitions": "--competition"}
    return special.get(name, "--" + name.replace("_", "-"))


def plan_of(
    *,
    agent: str | None,
    agent_options: tuple[str, ...],
    competitions: tuple[str, ...],
    split: str | None,
    backend: str,
    backend_options: tuple[str, ...],
    seeds: int | None,
    seed: tuple[int, ...],
    time_limit: str,
    cpus: float | None,
    memory: str | None,
    gpus: int,
    disk: str | None,
    model: str | None,
    endpoint: str | None,
    network: bool,
    allow: tuple[str, ...],
    synthetic: bool,
    edition: str,
    max_parallel: int | None,
    retries: int,
) -> Plan:
    """What the flags describe. Raises UsageError."""
    from mlecore.controller.api import make_limits, make_plan
    from mlecore.options import pairs
    from mlecore.runs.plan import split_competitions

    if agent is None:
        raise UsageError("say which agent: --agent NAME", fix="`mlecore plugins list --kind agent` shows them.")
    if not competitions and split is None:
        raise UsageError("say on what: --competition ID or --split lite", fix="To see them: mlecore competitions list")
    if seeds is not None and seed:
        raise UsageError("give either --seeds (how many) or --seed (which)")
    return make_plan(
        agent,
        [*competitions, *(id for id in (split_competitions(split) if split else ()) if id not in competitions)],
        options=pairs(agent_options, "-A"),
        seeds=list(seed) or seeds or 1,
        backend=backend,
        backend_options=pairs(backend_options, "-B"),
        limits=make_limits(
            time_limit, cpus, memory, gpus, disk, "open" if network else None, allow, bool(model or endpoint)
        ),
        model=model,
        endpoint=endpoint,
        edition=edition,
        synthetic=synthetic,
        max_parallel=max_parallel,
        retries=retries,
    )


def perform(
    plan: Plan,
    group: str | None,
    runs: Path,
    data: tuple[Path, ...],
    as_json: bool,
    only: frozenset[str] | None = None,
    start_new: bool = True,
) -> None:
    """Conduct a plan with somebody looking on; ends the command with its exit code."""
    from mlecore.controller.api import run_group
    from mlecore.controller.display import Lines, Table

    total = len(plan) if only is None else len(only)
    display = Table(total) if sys.stderr.isatty() and not as_json else Lines(total)
    with display:
        done = run_group(plan, group, runs, data, display, only=only, start_new=start_new)
    if as_json:
        from mlecore.runs.store import load_group

        print_json([record_json(record) for record in load_group(done.group.folder)])
    code = conclude(done, runs)
    if code:
        raise click.exceptions.Exit(code)


def conclude(done: Done, runs: Path) -> int:
    """Say how it ended and what to do next; the exit code."""
    name, outcome = done.group.name, done.outcome
    place = "" if runs == Path("runs") else f" --runs {shlex.quote(str(runs))}"
    counts = ", ".join(f"{number} {state}" for state, number in sorted(outcome.counts.items()) if number)
    click.echo(f"{name}: {counts or 'nothing has ended yet'}", err=True)
    for words in outcome.unfinished:
        click.echo(f"  {words}", err=True)
    if outcome.interrupted:
        click.echo(f"Stopped; runs at work go on. To go on with the group: mlecore runs resume {name}{place}", err=True)
    elif not outcome.complete:
        if outcome.unfinished:
            click.echo(f"To go on with the group: mlecore runs resume {name}{place}", err=True)
        if outcome.counts["failed"]:
            click.echo(f"To try failed runs again: mlecore runs retry {name}{place}", err=True)
    else:
        click.echo(f"To see the results: mlecore report {name}{place}", err=True)
    return 0 if outcome.complete else 3
