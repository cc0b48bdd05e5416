"""`mlecore run`: let agents work on competitions."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._agents import OrderedCommand, agents_given
from mlecore.cli._names import AGENT, BACKEND, COMPETITION, GROUP
from mlecore.cli._shared import (
    backend_config_option,
    backend_options_of,
    data_option,
    echo,
    edition_option,
    json_option,
    print_json,
    record_json,
    runs_option,
    split_option,
    synthetic_option,
)
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.controller.api import Done
    from mlecore.runs.plan import Plan


@click.command("run", cls=OrderedCommand)
@click.option(
    "--agent", type=AGENT, multiple=True, help="Name of an agent; repeatable, each with its own -A and --model."
)
@click.option("-A", "options", multiple=True, metavar="NAME=VALUE", help="An option of the agent before it.")
@click.option("--competition", type=COMPETITION, multiple=True, metavar="ID", help="Repeatable.")
@split_option
@click.option("--all", is_flag=True, default=None, help="All installed competitions of the benchmark: of every split.")
@click.option("--backend", type=BACKEND, show_default="vm", help="Where the agent's process runs.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="An option of the backend.")
@backend_config_option
@click.option("--seeds", type=int, show_default="1", help="Number of runs of each, with the seeds 0, 1, ...")
@click.option("--seed", type=int, multiple=True, help="A seed by its number; may be given again.")
@click.option("--time-limit", show_default="24h", help="Of one run: 24h, 90m, 1h30m, 3600.")
@click.option("--cpus", type=float, help="Of one run.")
@click.option("--memory", help="Of one run: 16GB, 512MiB.")
@click.option("--gpus", type=int, show_default="0", help="Of one run; two runs never share one.")
@click.option("--disk", help="What one run may write: 100GB.")
@click.option("--model", multiple=True, help="The model that the agent before it works with.")
@click.option("--endpoint", metavar="URL", help="Where the model is.")
@click.option("--key", metavar="NAME", help="Variable with the model's key, which only its gateway gets.")
@click.option(
    "--budget",
    multiple=True,
    metavar="AMOUNT",
    help="Of one run: 5usd, 2Mtok, 500calls. Calls beyond it are refused; repeatable.",
)
@click.option(
    "--price",
    multiple=True,
    metavar="MODEL=IN,OUT|TOOL=USE",
    help="US dollars per million tokens in and out, or per use of a tool of the provider (web_search=0.01), if"
    " genai-prices knows none; repeatable.",
)
@click.option("--any-model", is_flag=True, default=None, help="Also allow calls to other models, and list them.")
@click.option(
    "--gateway-allow",
    multiple=True,
    metavar="'METHOD PATH'",
    help="Also forward calls like 'POST /v1/images/*', beside those of the model; repeatable.",
)
@click.option(
    "--server-tools",
    is_flag=True,
    default=None,
    help="Allow tools that the model's provider runs (web search, code), and conversations that it stores.",
)
@click.option("--gateway-retries", type=int, show_default="0", help="Retries of a call that got 429 or 5xx.")
@click.option("--max-calls", type=int, help="Concurrent calls of the model, over all runs on the backend's machine.")
@click.option("--transcripts", is_flag=True, default=None, help="Keep the requests to the model, and its answers.")
@click.option("--secret", multiple=True, metavar="NAME", help="A variable that agents get themselves.")
@click.option(
    "--network",
    is_flag=True,
    flag_value="open",
    default=None,
    help="Give runs an open network. [default: none, or a gateway to the model]",
)
@click.option("--allow", multiple=True, metavar="HOST", help="A host that the relay allows; repeatable.")
@click.option("--group", type=GROUP, help="Name of the group; an existing group is resumed. [default: a new one]")
@click.option("--plan", type=click.Path(path_type=Path), help="A whole experiment as a TOML file instead.")
@click.option("--max-parallel", type=int, help="Maximum number of runs at once.")
@click.option("--retries", type=int, show_default="2", help="New attempts after infrastructure failures.")
@click.option(
    "--model-check/--no-model-check",
    default=None,
    help="Call each model once before the runs start. [default: model-check]",
)
@click.option(
    "--verify-data",
    is_flag=True,
    default=None,
    help="Compare the content of all prepared files with their hashes first, not only sizes and times.",
)
@click.option("--detect/--no-detect", default=None, help="Have detectors judge each run. [default: detect]")
@click.option("-D", "detectors", multiple=True, metavar="DETECTOR.NAME=VALUE", help="An option of a detector.")
@synthetic_option
@edition_option
@data_option
@runs_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    plan: Path | None,
    group: str | None,
    data: tuple[Path, ...],
    runs: Path,
    as_json: bool,
    backend_config: Path | None,
    **flags: Any,
) -> None:
    """Let agents work on competitions in sandboxes, then grade what they leave.

    Makes a group of runs in the folder of --runs: one for each agent, competition and seed. Ctrl-C stops this command,
    not the runs; `mlecore runs resume GROUP` resumes the group, as does the same command with its --group. Installed
    detectors judge each run once it is graded. Exit code 3 if runs failed or have not ended.
    """
    from mlecore.options import pairs_by_plugin
    from mlecore.runs.arguments import plan_of

    agents = {name: flags.pop(name) for name in ("agent", "options", "model")}
    given = agents_given(context, agents)
    given |= {name: value for name, value in flags.items() if _is_given(context, name)}
    if "backend_options" in given or backend_config is not None:
        given["backend_options"] = backend_options_of(given.get("backend_options", ()), backend_config)
    if "detectors" in given:
        given["detectors"] = pairs_by_plugin(given["detectors"], "-D")
    if "price" in given:
        given["price"] = dict(map(_price, given["price"]))
    perform(plan_of(plan, given), group, runs, data, as_json)


def _price(text: str) -> tuple[str, dict[str, float]]:
    name, _, amounts = text.rpartition("=")
    try:
        price = tuple(map(float, amounts.split(",")))
        names = {1: ("use",), 2: ("input", "output")}[len(price)]
    except (ValueError, KeyError):
        raise UsageError(
            f"invalid --price {text!r}",
            fix="Write --price my-model=2.5,10 for a model, --price web_search=0.01 for a tool.",
        ) from None
    return name, dict(zip(names, price, strict=True))


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def perform(
    plan: Plan,
    group: str | None,
    runs: Path,
    data: tuple[Path, ...],
    as_json: bool,
    only: frozenset[str] | None = None,
    start_new: bool = True,
    with_installed: bool = False,
) -> None:
    """Run a plan, show how it goes, and end the command with its exit code."""
    from mlecore.controller.api import run_group
    from mlecore.controller.display import Lines
    from mlecore.controller.table import LiveTable

    total = len(plan) if only is None else len(only)
    display = LiveTable(total) if sys.stderr.isatty() and not as_json else Lines(total)
    with display:
        done = run_group(
            plan, group, runs, data, display, only=only, start_new=start_new, with_installed=with_installed
        )
    if as_json:
        from mlecore.runs.store import load_group

        print_json([record_json(record) for record in load_group(done.group.folder)])
    code = conclude(done, runs)
    if code:
        raise click.exceptions.Exit(code)


def in_folder(runs: Path) -> str:
    """What a printed command needs to find its group, also where no variable is set."""
    return "" if runs == Path("runs") else f" --runs {shlex.quote(str(runs))}"


def conclude(done: Done, runs: Path) -> int:
    """Say how it ended and what to do next; the exit code."""
    name, outcome = done.group.name, done.outcome
    folder = in_folder(runs)
    counts = ", ".join(f"{number} {state}" for state, number in sorted(outcome.counts.items()) if number)
    click.echo(f"{name}: {counts or 'nothing is graded yet'}", err=True)
    for words in outcome.unfinished:  # each was said in full when it happened
        echo(f"  {words.splitlines()[0]}", err=True)
    if outcome.interrupted:
        click.echo(f"Stopped. Running runs continue. To resume the group: mlecore runs resume {name}{folder}", err=True)
    elif not outcome.complete:
        if outcome.unfinished:
            click.echo(f"To resume the group: mlecore runs resume {name}{folder}", err=True)
        if outcome.counts["failed"]:
            click.echo(f"To try failed runs again: mlecore runs retry {name}{folder}", err=True)
    else:
        click.echo(f"To see the results: mlecore report {name}{folder}", err=True)
    return 0 if outcome.complete else 3
