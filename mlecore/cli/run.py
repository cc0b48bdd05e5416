"""`mlecore run`: let agents work on competitions."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._agents import FLAGS, OrderedCommand, agents_given
from mlecore.cli._names import AGENT, AGENT_OPTION, BACKEND, BACKEND_OPTION, GROUP
from mlecore.cli._shared import (
    backend_config_option,
    backend_options_of,
    competitions_named,
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
from mlecore.options import pairs, pairs_by_plugin

if TYPE_CHECKING:
    from mlecore.controller.api import Done
    from mlecore.runs.plan import Plan


SECTIONS = {  # of the help: title -> its first option
    "What to run": "agent",
    "Limits of each run": "time_limit",
    "Network and secrets": "network",
    "Models": "endpoint",
    "Where": "backend",
    "How": "group",
}


@click.command("run", cls=OrderedCommand, sections=SECTIONS)
@click.option(
    "--agent",
    type=AGENT,
    multiple=True,
    help="Agent to run; repeatable, each followed by its own -A and --label.",
)
@click.option(
    "-A",
    "options",
    type=AGENT_OPTION,
    multiple=True,
    metavar="NAME=VALUE",
    help="Option for the preceding --agent.",
)
@click.option("--model", multiple=True, help="Model for all agents that use one; several: each for the --agent before.")
@click.option("--label", multiple=True, help="Name of the preceding --agent in runs and reports.")
@competitions_named("--competition", help="Competition to run")
@split_option
@click.option("--seeds", type=int, show_default="1", help="Number of seeds per agent and competition: 0, 1, ...")
@click.option("--seed", type=int, multiple=True, help="Seed to use; repeatable.")
@synthetic_option
@edition_option
@click.option(
    "--obfuscate",
    is_flag=False,
    flag_value="description",
    type=click.Choice(["description", "full"]),
    help="Hide from agents which competition they work on: no title, no id, a neutral description; `full` also renames"
    " files, columns, categories and ids of tables. [without a value: description]",
)
@data_option
@click.option("--plan", type=click.Path(path_type=Path), help="TOML file that describes the whole experiment.")
@click.option("--time-limit", show_default="24h", help="Time limit per run, e.g. 24h, 90m or 1h30m.")
@click.option("--cpus", type=float, help="CPUs per run.")
@click.option("--memory", help="Memory per run, e.g. 16GB or 512MiB.")
@click.option("--gpus", type=int, show_default="0", help="GPUs per run; runs never share a GPU.")
@click.option("--disk", help="Disk quota per run, e.g. 100GB.")
@click.option(
    "--network",
    is_flag=True,
    flag_value="open",
    default=None,
    help="Network access for runs. [default: none, or only the gateway to the model]",
)
@click.option("--allow", multiple=True, metavar="HOST", help="Host that runs may reach through the relay; repeatable.")
@click.option("--mcp", multiple=True, metavar="NAME=URL", help="MCP server for agents that support them; repeatable.")
@click.option(
    "--mcp-header",
    multiple=True,
    metavar="NAME.HEADER=VARIABLE",
    help="Header of requests to an MCP server, and the environment variable with its value; repeatable.",
)
@click.option("--secret", multiple=True, metavar="NAME", help="Environment variable to pass to agents.")
@click.option("--endpoint", metavar="URL", help="Base URL of the model's API.")
@click.option("--key", metavar="NAME", help="Environment variable with the model's API key; only the gateway reads it.")
@click.option(
    "--budget",
    multiple=True,
    metavar="AMOUNT",
    help="Budget per run, e.g. 5usd, 2Mtok or 500calls; calls beyond it are rejected; repeatable.",
)
@click.option(
    "--price",
    multiple=True,
    metavar="MODEL=IN,OUT|TOOL=USE",
    help="US dollars per million tokens in and out, or per use of a provider tool (web_search=0.01), if"
    " genai-prices knows none; repeatable.",
)
@click.option(
    "--any-model", is_flag=True, default=None, help="Allow calls to models other than --model, and record them."
)
@click.option(
    "--gateway-allow",
    multiple=True,
    metavar="'METHOD PATH'",
    help="Also forward calls that match, e.g. 'POST /v1/images/*'; repeatable.",
)
@click.option(
    "--server-tools",
    is_flag=True,
    default=None,
    help="Allow tools run by the model's provider (web search, code execution) and stored conversations.",
)
@click.option(
    "--gateway-retries", type=int, show_default="0", help="Retries per model call after a 429 or 5xx response."
)
@click.option("--max-calls", type=int, help="Concurrent calls to the model, over all runs on one machine.")
@click.option(
    "--transcripts", is_flag=True, default=None, help="Record the full requests to the model and its responses."
)
@click.option(
    "--model-check/--no-model-check",
    default=None,
    help="Call each model once before the runs start. [default: model-check]",
)
@click.option("--backend", type=BACKEND, show_default="vm", help="Backend that runs the agent.")
@click.option(
    "-B",
    "backend_options",
    type=BACKEND_OPTION,
    multiple=True,
    metavar="NAME=VALUE",
    help="Option for the backend.",
)
@backend_config_option
@click.option("--group", type=GROUP, help="Name of the group; an existing group is resumed. [default: a new name]")
@runs_option
@click.option("--max-parallel", type=int, help="Maximum number of runs at once.")
@click.option("--retries", type=int, show_default="2", help="Retries per run after infrastructure failures.")
@click.option(
    "--verify-data",
    is_flag=True,
    default=None,
    help="First verify all prepared files by hash, not only by size and modification time.",
)
@click.option("--detect/--no-detect", default=None, help="Run detectors on each finished run. [default: detect]")
@click.option("-D", "detectors", multiple=True, metavar="DETECTOR.NAME=VALUE", help="Option for a detector.")
@click.option("--dry-run", is_flag=True, help="Check everything and show what would run, without starting it.")
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
    dry_run: bool,
    **flags: Any,
) -> None:
    """Run agents on competitions in sandboxes, then grade their submissions.

    Creates a group of runs, one for each agent, competition and seed, in the folder given by --runs. Ctrl-C stops this
    command, but not the runs: `mlecore runs resume GROUP`, or the same command with --group, continues the group.
    Installed detectors judge each run after it is graded. Exit code 3 if runs failed or have not finished.
    """
    from mlecore.runs.arguments import plan_of

    agents = {name: flags.pop(name) for name in FLAGS}
    given = agents_given(context, agents)
    given |= {
        name: value for name, value in flags.items() if _is_given(context, name) or (name == "competition" and value)
    }
    if "backend_options" in given or backend_config is not None:
        given["backend_options"] = backend_options_of(given.get("backend_options", ()), backend_config)
    if "detectors" in given:
        given["detectors"] = pairs_by_plugin(given["detectors"], "-D")
    headers = pairs_by_plugin(given.pop("mcp_header", ()), "--mcp-header")
    if "mcp" in given or headers:
        given["mcp"] = _mcp(given.get("mcp", ()), headers)
    if "price" in given:
        given["price"] = dict(map(_price, given["price"]))
    wanted = plan_of(plan, given)
    if dry_run:
        from mlecore.controller.api import dry_run as rehearse

        rehearse(wanted, runs, data, echo)
        return
    perform(wanted, group, runs, data, as_json)


def _mcp(servers: Sequence[str], headers: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {name: {"url": url} for name, url in pairs(servers, "--mcp").items()}
    for name, values in headers.items():
        if name not in found:
            raise UsageError(f"--mcp-header {name}: there is no MCP server {name}", fix=f"Add --mcp {name}=URL.")
        found[name]["headers"] = dict(values)
    return found


def _price(text: str) -> tuple[str, dict[str, float]]:
    name, _, amounts = text.rpartition("=")
    try:
        price = tuple(map(float, amounts.split(",")))
        names = {1: ("use",), 2: ("input", "output")}[len(price) if name else 0]
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
    from mlecore.cli._live import Live
    from mlecore.controller.api import run_group
    from mlecore.controller.display import Lines

    total = len(plan) if only is None else len(only)
    display = Live(total) if sys.stderr.isatty() and not as_json else Lines(total)
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
    click.echo(f"{name}: {counts or 'no grades yet'}", err=True)
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
