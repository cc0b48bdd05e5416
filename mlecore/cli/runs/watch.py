"""`mlecore runs watch`: an active group, until it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli._live import running_lines
from mlecore.cli._names import GROUP
from mlecore.cli._shared import json_option, print_json, runs_option, table_lines, terminal_width
from mlecore.cli.runs._names import group_folder
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.controller.watching import View


@click.command("watch")
@click.argument("name", type=GROUP, required=False, metavar="[GROUP]")
@click.option("--once", is_flag=True, help="Show the group once, then exit.")
@click.option(
    "--every", type=click.FloatRange(min=1.0), default=10.0, show_default=True, help="Refresh interval in seconds."
)
@runs_option
@json_option
def command(name: str | None, once: bool, every: float, runs: Path, as_json: bool) -> None:
    """Show live progress of a group.

    Shows runs by state, the progress of each running one, and the estimated time to the end. Without GROUP, shows
    the group with an active controller, else the latest. The estimate comes from finished runs; "at most" assumes
    that every run takes its whole time limit. Ends with the group, or with Ctrl-C, which stops no run. --json
    prints the current state once.
    """
    from mlecore.controller.watching import Watcher

    watcher = Watcher(group_folder(runs, name) if name else _at_work(runs))
    if as_json:
        from attrs import asdict

        view = watcher.look()
        print_json({**asdict(view), "ended": view.ended})
        return
    if once:
        click.echo("\n".join(_lines(watcher.look(), terminal_width(), runs)))
        return
    with _screen() as show, _until_interrupted():
        while True:
            view = watcher.look()
            show("\n".join(_lines(view, terminal_width(), runs)))
            if view.ended:
                return
            time.sleep(every)


def _at_work(runs: Path) -> Path:
    from mlecore.runs.folders import groups
    from mlecore.runs.lock import holder

    folders = groups(runs)
    if not folders:
        raise UsageError(f"no groups in {runs.absolute()}", fix="Name another folder with --runs or MLECORE_RUNS.")
    return next((folder for folder in reversed(folders) if holder(folder)), folders[-1])


@contextmanager
def _screen() -> Iterator[Callable[[str], None]]:
    """On a terminal, each picture replaces the one before; else they follow each other."""
    import sys

    if not sys.stdout.isatty():
        yield lambda text: click.echo(f"{text}\n")
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False, vertical_overflow="visible") as live:
        yield lambda text: live.update(Text(text), refresh=True)


@contextmanager
def _until_interrupted() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        click.echo("\nNo longer watched; the runs continue.", err=True)


def _lines(view: View, width: int | None, runs: Path) -> list[str]:
    from mlecore.cli.run import in_folder
    from mlecore.units import counted

    total = sum(count for states in view.agents.values() for count in states.values())
    out = [f"{view.group}: {counted(total, 'run')}; {view.remaining}"]
    states = list(dict.fromkeys(state for each in view.agents.values() for state in each))
    header = ["AGENT", *(state.upper() for state in states)]
    out += table_lines(
        header, [[label, *(str(each.get(state, 0)) for state in states)] for label, each in view.agents.items()], width
    )
    out += [f"{counted(number, 'run')} waiting: {reason}" for reason, number in view.waiting.items()]
    if view.outcomes:
        out.append(f"As reported by agents: {'; '.join(f'{n} x {what}' for what, n in view.outcomes.items())}")
    if not view.ended and not view.controlled:
        out.append(f"No controller is running for it: mlecore runs resume {view.group}{in_folder(runs)}")
    if view.running:
        out += ["", *running_lines(view.running, width)]
    return out + [f"warning: {problem}" for problem in view.problems]
