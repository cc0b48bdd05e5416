"""`mlecore report`: scores, medals and rates of groups of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._shared import json_option, print_json, print_table, runs_option
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.reports.setups import Setup
    from mlecore.runs.record import RunRecord


@click.command("report")
@click.argument("groups", nargs=-1, required=True)
@runs_option
@click.option("--mix", is_flag=True, help="Average over runs even where their conditions differ.")
@json_option
def command(groups: tuple[str, ...], runs: Path, mix: bool, as_json: bool) -> None:
    """Each run's score, medal and validity; then rates as mean ± one standard error over seeds.

    GROUPS are names of groups or paths of their folders. Runs of one agent, options and model are one setup; where the
    conditions within a setup differ (time limit, hardware, data, versions ...) there is no average without --mix.
    """
    from mlecore.reports.setups import differences, read_graded, setups

    found = setups(read_graded(run) for group in groups for run in _runs(group, runs))
    refused = False
    out = []
    for setup in found:
        differ = differences(item.run for item in setup.runs)
        averaged = mix or not differ
        refused |= not averaged
        if as_json:
            out.append(_json(setup, differ, averaged))
        else:
            _print(setup, differ, averaged)
    if as_json:
        print_json({"setups": out})
    if refused:
        raise click.exceptions.Exit(2)


def _runs(group: str, runs: Path) -> list[RunRecord]:
    from mlecore.runs.store import load_group

    folder = runs / group if (runs / group).is_dir() else Path(group)
    if not folder.is_dir():
        raise UsageError(f"there is no group {group!r} in {runs}", fix="`mlecore runs list` shows the groups.")
    records = load_group(folder)
    if not records:
        raise UsageError(f"the group {group!r} has no runs yet")
    return records


def _print(setup: Setup, differ: dict[str, list[str]], averaged: bool) -> None:
    from mlecore.reports.terminal import notes, rate_table, run_table

    click.echo()
    click.secho(setup.title, bold=True, underline=True)
    print_table(*run_table(setup))
    if averaged:
        header, table = rate_table(setup)
        if table:
            click.echo()
            print_table(header, table)
    for note in notes(setup):
        click.echo(note)
    if differ:
        click.echo("Conditions differ between these runs:")
        for name, values in differ.items():
            click.echo(f"  {name}: {' | '.join(values)}")
        if not averaged:
            click.echo("So there is no average over them; --mix makes one all the same.")


def _json(setup: Setup, differ: dict[str, list[str]], averaged: bool) -> dict[str, Any]:
    from attrs import asdict

    from mlecore.reports.rates import rows

    rates = [asdict(row) for row in rows(item.outcome for item in setup.counted)] if averaged else None
    return {
        "setup": setup.title,
        "synthetic": setup.synthetic,
        "differences": differ,
        "rates": rates,
        "runs": [
            {
                "run": item.run.name,
                "group": item.run.group,
                "competition": item.run.competition,
                "split": item.split,
                "seed": item.run.seed,
                "state": item.run.state,
                "ended": item.run.ended,
                "reason": item.run.reason,
                "report": item.report.to_json() if item.report else None,
            }
            for item in setup.runs
        ],
    }
