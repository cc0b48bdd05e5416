"""`mlecore run`: let agents work on competitions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import fields

from mlecore.cli._agents import FLAGS, OrderedCommand, agents_given
from mlecore.cli._ending import how_it_went
from mlecore.cli.names import AGENT, AGENT_OPTION, BACKEND, BACKEND_OPTION, GROUP
from mlecore.cli.shared import (
    backend_config_option,
    backend_options_of,
    competitions_named,
    data_option,
    echo,
    edition_option,
    in_folder,
    json_option,
    print_json,
    record_json,
    runs_option,
    split_option,
    synthetic_option,
)
from mlecore.errors import UsageError
from mlecore.model.options import pairs, pairs_by_plugin
from mlecore.model.plan import Plan, PlannedGateway
from mlecore.util.schema import SchemaError, parse_toml

if TYPE_CHECKING:
    from mlecore.controller.api import Done
    from mlecore.model.record import RunRecord

SECTIONS = {  # of the help: title -> its first option
    "What to run": "agent",
    "The model": "model",
    "Limits of each run": "time_limit",
    "How the runs are carried out": "backend",
}
GATEWAY = ", ".join("prices.MODEL" if key.name == "prices" else key.name for key in fields(PlannedGateway))


@click.command("run", cls=OrderedCommand, sections=SECTIONS)
@click.option("--agent", type=AGENT, multiple=True, help="Agent; repeatable, each before its own -A, --label, --model.")
@click.option("-A", "options", type=AGENT_OPTION, multiple=True, metavar="NAME=VALUE", help="Option of the agent.")
@click.option("--label", multiple=True, help="Name of the agent in runs and reports.")
@competitions_named("--competition", help="Competition")
@split_option
@click.option("--seeds", help="How many (3: 0, 1 and 2), or which (0,3,7; a single one: 7,).  [default: 1]")
@edition_option
@synthetic_option
@click.option(
    "--obfuscate",
    is_flag=False,
    flag_value="description",
    type=click.Choice(["description", "full"]),
    help="Hide which competition it is; full: rename what is in its tables, too.  [without a value: description]",
)
@data_option
@click.option("--plan", type=click.Path(path_type=Path), help="TOML file with the whole experiment (docs/runs.md).")
@click.option("--model", multiple=True, help="Model of all agents; several: each of the --agent before.")
@click.option("--endpoint", metavar="URL", help="Base URL of the model's API.")
@click.option(
    "-G",
    "gateway",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Setting of the gateway to the model; repeatable: {GATEWAY.replace('_', '-')} (docs/gateway.md).",
)
@click.option("--time-limit", help="Such as 24h, 90m or 1h30m.  [default: 24h]")
@click.option("--cpus", type=float, help="Number of CPUs.")
@click.option("--memory", help="Such as 16GB or 512MiB.")
@click.option("--gpus", type=int, help="Number of GPUs, which no two runs share.  [default: 0]")
@click.option("--disk", help="Disk quota, such as 100GB.")
@click.option(
    "--network",
    is_flag=True,
    flag_value="open",
    default=None,
    help="Open network.  [default: none, or only the way to the model]",
)
@click.option("--allow", multiple=True, metavar="HOST", help="Host that runs may reach; repeatable.")
@click.option("--mcp", multiple=True, metavar="NAME=URL", help="MCP server for agents; repeatable.")
@click.option("--secret", multiple=True, metavar="NAME", help="Environment variable for agents; repeatable.")
@click.option("--backend", type=BACKEND, help="Where agents run.  [default: vm]")
@click.option(
    "-B", "backend_options", type=BACKEND_OPTION, multiple=True, metavar="NAME=VALUE", help="Option of the backend."
)
@backend_config_option
@click.option("--group", type=GROUP, help="Name of the group, new or to be resumed.  [default: a new name]")
@runs_option
@click.option("--max-parallel", type=int, help="Maximum number of runs at once.")
@click.option("--retries", type=int, help="New attempts after infrastructure failures.  [default: 2]")
@click.option("--detect/--no-detect", default=None, help="Run detectors on each finished run.  [default: detect]")
@click.option("-D", "detectors", multiple=True, metavar="DETECTOR.NAME=VALUE", help="Option of a detector.")
@click.option("--dry-run", is_flag=True, help="Check everything and show what would run.")
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

    Creates a group of runs: one for each agent, competition and seed. Ctrl-C stops this command, but not the runs:
    `mlecore runs resume GROUP` continues the group. Exit code 3 if runs failed or have not finished.
    """
    wanted = plan_given(context, flags, plan, backend_config)
    if dry_run:
        from mlecore.controller.api import dry_run as rehearse

        rehearse(wanted, runs, data, echo)
        return
    perform(wanted, group, runs, data, as_json)


def plan_given(
    context: click.Context, flags: dict[str, Any], plan: Path | None = None, backend_config: Path | None = None
) -> Plan:
    """The plan of the command's options; ``context`` has the order of the agents' ones. Raises UsageError."""
    from mlecore.runs.arguments import plan_of

    default = click.core.ParameterSource.DEFAULT
    agents = {name: flags.pop(name) for name in FLAGS}
    given = agents_given(context, agents) | ({"competition": flags["competition"]} if flags["competition"] else {})
    given |= {name: value for name, value in flags.items() if context.get_parameter_source(name) is not default}
    if "backend_options" in given or backend_config is not None:
        given["backend_options"] = backend_options_of(flags["backend_options"], backend_config)
    if "detectors" in given:
        given["detectors"] = pairs_by_plugin(flags["detectors"], "-D")
    if "mcp" in given:
        given["mcp"] = {name: {"url": url} for name, url in pairs(flags["mcp"], "--mcp").items()}
    if "gateway" in given:
        given["gateway"] = _gateway(flags["gateway"])
    return plan_of(plan, given)


def _gateway(given: Sequence[str]) -> dict[str, Any]:
    """The table [gateway] of a plan. Values are as in TOML, or text without quotes; a name given again makes a list."""
    table: dict[str, Any] = {}
    for number, item in enumerate(given, 1):
        name, equals, text = item.partition("=")
        if not equals:  # perhaps a secret without its name
            raise UsageError(f"-G number {number} has no value", fix="Write -G NAME=VALUE.")
        if name.startswith("prices."):
            table.setdefault("prices", {})[name.removeprefix("prices.")] = _price(text)
            continue
        try:
            value = parse_toml(f"value = {text}".encode())["value"]
        except SchemaError:
            value = text
        key = name.replace("-", "_")
        before = table.get(key, [])
        table[key] = [*(before if isinstance(before, list) else [before]), value] if key in table else value
    return table


def _price(text: str) -> dict[str, float]:
    try:
        amounts = [float(amount) for amount in text.split(",")]
        return dict(zip({1: ("use",), 2: ("input", "output")}[len(amounts)], amounts, strict=True))
    except (ValueError, KeyError):
        raise UsageError(
            f"invalid price {text!r}",
            fix="Write -G prices.my-model=2.5,10 (US dollars per million tokens in and out) for a model, "
            "-G prices.web_search=0.01 (per use) for a tool.",
        ) from None


def perform(
    plan: Plan,
    group: str | None,
    runs: Path,
    data: tuple[Path, ...],
    as_json: bool,
    only: frozenset[str] | None = None,
    start_new: bool = True,
    with_installed: bool = False,
) -> str:
    """Run a plan and show how it goes; returns the group's name. Ends the command unless all runs are graded."""
    from mlecore.cli._live import Live
    from mlecore.controller.api import run_group
    from mlecore.controller.display import Lines
    from mlecore.runs.store import load_group

    total = len(plan) if only is None else len(only)
    display = Live(total) if sys.stderr.isatty() and not as_json else Lines(total)
    with display:
        done = run_group(
            plan, group, runs, data, display, only=only, start_new=start_new, with_installed=with_installed
        )
    records = load_group(done.group.folder, [])
    if as_json:
        print_json([record_json(record) for record in records])
    code = conclude(done, records, runs)
    if code:
        raise click.exceptions.Exit(code)
    return done.group.name


def conclude(done: Done, records: Sequence[RunRecord], runs: Path) -> int:
    """Say how it went and what to do next; the exit code."""
    name, outcome = done.group.name, done.outcome
    sentence, *lines = how_it_went(records, runs)
    lines += [f"  {words.splitlines()[0]}" for words in outcome.unfinished]  # each was said in full when it happened
    lines += ["Stopped. Running runs continue."] if outcome.interrupted else []
    next_steps = {
        "To resume the group: mlecore runs resume": outcome.interrupted or outcome.unfinished,
        "To try failed runs again: mlecore runs retry": outcome.counts["failed"] and not outcome.interrupted,
        "To see the results: mlecore report": outcome.complete,
    }
    lines += [f"{step} {name}{in_folder(runs)}" for step, wanted in next_steps.items() if wanted]
    echo("\n".join([f"{name}: {sentence}", *lines]), err=True)
    return 0 if outcome.complete else 3
