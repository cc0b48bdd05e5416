"""`mlecore competitions`: which are installed, and which are prepared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli import Commands
from mlecore.cli.names import COMPETITION, SPLIT
from mlecore.cli.shared import data_option, edition_option, json_option, print_json, print_table
from mlecore.util.units import show_size

if TYPE_CHECKING:
    from mlecore.data.layout import DataDirs
    from mlecore.model.plugin import Plugin


_MEDALS = {"same": "Medals as in v1.", "near": "Medals are only near those of v1.", "none": "No medals."}


@click.group("competitions", cls=Commands, own=(), of="competitions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List and inspect installed competitions."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_competitions)


@command.command("list")
@click.option("--split", type=SPLIT, help="lite, low, medium, high, dev, all, mle-bench-30, or your own.")
@data_option
@json_option
def list_competitions(split: str | None = None, data: tuple[Path, ...] = (), as_json: bool = False) -> None:
    """List installed competitions, and which are prepared."""
    from mlecore.data.layout import DataDirs
    from mlecore.plugins.competitions import working

    dirs = DataDirs.of(data)
    rows = [_row(plugin, dirs) for plugin in working(split)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("No competitions are installed. To install the 22 of the low split: pip install 'mlecore[lite]'")
        return
    print_table(
        ["ID", "SPLIT", "MODALITY", "METRIC", "SIZE", "PREPARED"],
        [
            [
                row["id"],
                ", ".join(filter(None, (row["split"], *row["splits"]))) or "-",
                row["modality"],
                f"{row['metric']} {'↑' if row['direction'] == 'maximize' else '↓'}",
                "-" if row["size_gb"] is None else show_size(row["size_gb"] * 1e9),
                ", ".join(row["prepared"]) or "no",
            ]
            for row in rows
        ],
        spare=["METRIC", "MODALITY"],
    )


def _row(plugin: Plugin, dirs: DataDirs) -> dict[str, Any]:
    id, facts = plugin.name, plugin.facts
    assert facts is not None
    prepared = [edition for edition in plugin.editions if dirs.find(id, edition)]
    if dirs.find(id, synthetic=True):
        prepared.append("synthetic data")
    names = ("title", "split", "splits", "modality", "task", "metric", "direction", "size_gb")
    return {"id": id, **{name: getattr(facts, name) for name in names}, "prepared": prepared}


@command.command("show")
@click.argument("competition_id", type=COMPETITION)
@edition_option
@data_option
@json_option
def show(competition_id: str, edition: str, data: tuple[Path, ...], as_json: bool) -> None:
    """Show one competition: metric, medals, known issues, editions, data."""
    from mlecore.data.layout import DataDirs
    from mlecore.grading.medals import thresholds_for
    from mlecore.model.data_kind import no_medals
    from mlecore.plugins.competitions import competition

    target = competition(competition_id, edition)
    facts, dirs = target.facts, DataDirs.of(data)
    thresholds = thresholds_for(facts)
    roots = {
        name: str(found.root)
        for name, found in (
            (edition, dirs.find(facts.id, edition)),
            ("synthetic data", dirs.find(facts.id, edition, synthetic=True)),
        )
        if found
    }
    if as_json:
        from attrs import asdict

        row = _row(target.plugin, dirs) | {
            "kaggle": facts.kaggle,
            "edition": edition,
            "editions": {
                name: {"changes": other.changes, "thresholds": other.thresholds}
                for name, other in facts.editions.items()
            },
            "comparability": facts.comparability,
            "test_part": facts.test_part,
            "thresholds": asdict(thresholds) if thresholds else None,
            "reference": asdict(facts.reference) if facts.reference else None,
            "leaks": [asdict(leak) for leak in facts.leaks],
            "known_issues": [asdict(issue) for issue in facts.known_issues],
            "prepared_in": roots,
            "plugin": f"{target.plugin.distribution} {target.plugin.version}",
        }
        print_json(row)
        return
    click.secho(facts.title, bold=True)
    better = "lower is better" if facts.lower_is_better else "higher is better"
    lines = {
        "id": facts.id,
        "kaggle": f"https://www.kaggle.com/competitions/{facts.kaggle}" if facts.kaggle else "not on Kaggle",
        "split": ", ".join(filter(None, (facts.split, *facts.splits))) or "none",
        "task": f"{facts.task} ({facts.modality})",
        "metric": f"{facts.metric}, {better}",
        "size": "unknown" if facts.size_gb is None else show_size(facts.size_gb * 1e9),
        "plugin": f"{target.plugin.distribution} {target.plugin.version}",
    }
    if facts.test_part:
        lines["test"] = facts.test_part
    for name, value in lines.items():
        click.echo(f"  {name + ':':10}{value}")
    if thresholds and facts.comparability == "none":
        click.echo(f"  {'medals:':10}none in edition {edition}: {no_medals('published', 'none')}")
    elif thresholds:
        shown = ", ".join(f"{name} {getattr(thresholds, name)}" for name in ("gold", "silver", "bronze", "median"))
        marked = " (only near those of v1)" if facts.comparability == "near" else ""
        click.echo(f"  {'medals:':10}{shown}{marked}")
    else:
        click.echo(f"  {'medals:':10}none: it has no human leaderboard")
    if known := facts.reference:
        shown = ", ".join(f"{name} {getattr(known, name)}" for name in ("gold", "silver", "bronze", "median"))
        click.echo(f"  {'reference:':10} {shown} (scores of {', '.join(known.agents)}, {known.date}; no medals)")
    for name, other in facts.editions.items():
        click.echo(f"  {name + ':':10}{other.changes} {_MEDALS[other.thresholds]}")
    for leak in facts.leaks:
        click.echo(f"  {'leak:':10}{leak.file}{f', column {leak.column}' if leak.column else ''}: {leak.why}")
    for issue in facts.known_issues:
        click.echo(f"  {'issue:':10}{issue.what} {issue.effect}")
    for name, root in roots.items():
        click.echo(f"  {'prepared:':10}{name} in {root}")
    if not roots:
        click.echo(f"  {'prepared:':10}no; `mlecore prepare {facts.id}{dirs.flags(edition)}`")
