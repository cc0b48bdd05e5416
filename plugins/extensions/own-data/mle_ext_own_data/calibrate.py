"""`mlecore competitions calibrate`: scores of agents to compare with, where there is no human leaderboard."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._agents import OrderedCommand
from mlecore.cli.names import COMPETITION
from mlecore.cli.run import SECTIONS, perform, plan_given
from mlecore.cli.run import command as run
from mlecore.errors import DataError, UsageError

if TYPE_CHECKING:
    from mlecore.model.competition import Competition
    from mlecore.model.facts import Reference
    from mlecore.model.record import RunRecord

_SEEDS = "5"
_NOT_HERE = {"competition", "listed", "split", "edition", "synthetic", "obfuscate", "plan", "dry_run", "as_json"}
_TABLE = re.compile(r"^\[reference\].*\n(?:(?!\[).*\n?)*", re.MULTILINE)  # up to the next table


class _WithBaseline(OrderedCommand):
    """The baseline takes part in any case."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = "baseline" in args or "--agent=baseline" in args
        return super().parse_args(ctx, ["--seeds", _SEEDS, *([] if named else ["--agent", "baseline"]), *args])


def _options() -> list[click.Parameter]:
    """Those of `mlecore run`, but for what is settled here."""
    options = [copy.copy(option) for option in run.params if option.name not in _NOT_HERE]
    for option in options:
        if isinstance(option, click.Option) and option.name == "seeds":
            option.help = f"How many (3: 0, 1 and 2), or which (0,3,7; a single one: 7,).  [default: {_SEEDS}]"
    return options


@click.command("calibrate", cls=_WithBaseline, sections=SECTIONS, params=_options())
@click.argument("competition_id", type=COMPETITION)
@click.pass_context
def command(
    context: click.Context,
    /,
    competition_id: str,
    group: str | None,
    data: tuple[Path, ...],
    runs: Path,
    backend_config: Path | None,
    **flags: Any,
) -> None:
    """Run agents on COMPETITION_ID, and write what they scored into its competition.toml as reference scores.

    The baseline takes part in any case; --agent names further ones. The runs are ordinary ones, in a group of their
    own, and --group resumes it. Reports then show "reference gold" and so on, which are scores of agents: no medals,
    and in no rate. If a package is not installed as editable, the lines are printed instead.
    """
    from mlecore.plugins.competitions import competition
    from mlecore.runs.store import load_group

    target = competition(competition_id)
    if target.facts.thresholds or (target.facts.folder / "leaderboard.csv").is_file():
        raise UsageError(f"{target.id} has a human leaderboard, so it needs no scores of agents to compare with")
    plan = plan_given(context, {**flags, "competition": (target.id,)}, None, backend_config)
    name = perform(plan, group, runs, data, as_json=False)
    found = reference_of(load_group(runs / name), target)
    lines = table(found)
    if is_editable(target.plugin.distribution):
        path = target.facts.folder / "competition.toml"
        write(path, lines)
        click.echo(f"Written to {path}:", err=True)
    else:
        click.echo(f"{target.plugin} is not installed as editable. Add this to its competition.toml:", err=True)
    click.echo(lines, nl=False)


def reference_of(records: Sequence[RunRecord], target: Competition) -> Reference:
    """Thresholds of the scores, which stand in for a leaderboard: a team for each run with a valid submission, and
    Kaggle's rules for so few teams. Raises DataError if there is no valid score.

    Below 100 teams, gold is the score at the place of 10 % of them, silver at 20 %, bronze at 40 %; each is a place at
    least. Scores are rounded to 5 decimals, as they are before they meet thresholds.
    """
    from attrs import asdict

    from mlecore.grading.medals import thresholds_of
    from mlecore.model.facts import Reference

    graded = [(record, record.report) for record in records if record.state == "graded" and record.report]
    scores = [report.score for _, report in graded if report.score is not None]
    if not scores:
        raise DataError(
            f"none of {len(records)} runs on {target.id} has a valid score",
            fix=f"To see why: mlecore report {records[0].folder.parent}",
        )
    return Reference(
        **asdict(thresholds_of(scores, target.facts.lower_is_better)),
        agents=tuple(dict.fromkeys(_agent(record) for record in records)),
        seeds=len({record.seed for record in records}),
        date=max(report.created_at for _, report in graded)[:10],
        data=graded[0][0].data_digest or "",
    )


def _agent(record: RunRecord) -> str:
    model = f" with {record.model}" if record.model else ""
    return f"{record.label or record.agent.name} {record.agent.version}{model}"


def table(found: Reference) -> str:
    """The lines of competition.toml."""
    from mlecore.util.schema import plain

    rows = [f"{name} = {json.dumps(value)}" for name, value in plain(found).items()]
    return "\n".join(["[reference]  # scores of agents, not of humans", *rows, ""])


def is_editable(name: str) -> bool:
    """Is the distribution installed from a folder that its owner edits?"""
    origin = json.loads(distribution(name).read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


def write(path: Path, lines: str) -> None:
    """Put the table into a competition.toml, in place of an earlier one. Raises PluginError, and changes nothing, if
    the file could not be read then."""
    from mlecore.model.facts import read_facts
    from mlecore.util import files
    from mlecore.util.scratch import scratch

    text = path.read_text(encoding="utf-8")
    text = _TABLE.sub("", text).rstrip("\n") + f"\n\n{lines}"
    with scratch() as folder:
        (folder / path.name).write_text(text, encoding="utf-8")
        read_facts(folder)
    files.replace(path, text.encode())
