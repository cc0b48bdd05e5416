"""`mlecore runs watch`: an active group, until it has ended."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from pathlib import Path

import click

from mlecore.cli._ending import how_it_went
from mlecore.cli._live import picture
from mlecore.cli.names import GROUP
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import echo, json_option, print_json, runs_option, terminal_width
from mlecore.errors import UsageError


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
    from mlecore.runs.store import load_group

    watcher = Watcher(group_folder(runs, name) if name else _at_work(runs))
    if as_json:
        from attrs import asdict

        view = watcher.look()
        print_json({**asdict(view), "ended": view.ended})
        return
    screen = None
    if sys.stdout.isatty() and not once:
        from rich.live import Live

        screen = Live(auto_refresh=False, vertical_overflow="visible")
    try:
        with screen or nullcontext():
            while True:
                view = watcher.look()
                text = "\n".join(picture(view, terminal_width(), runs))
                if screen:
                    from rich.text import Text

                    screen.update(Text(text), refresh=True)
                else:
                    click.echo(text if once else f"{text}\n")
                if once or view.ended:
                    break
                time.sleep(every)
    except KeyboardInterrupt:
        click.echo("\nNo longer watched; the runs continue.", err=True)
        return
    if view.ended:
        echo("\n".join(how_it_went(load_group(watcher.folder, []), runs)))


def _at_work(runs: Path) -> Path:
    from mlecore.runs.folders import groups
    from mlecore.runs.lock import holder

    folders = groups(runs)
    if not folders:
        raise UsageError(f"no groups in {runs.absolute()}", fix="Name another folder with --runs or MLECORE_RUNS.")
    return next((folder for folder in reversed(folders) if holder(folder)), folders[-1])
