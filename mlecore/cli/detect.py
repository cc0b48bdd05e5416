"""`mlecore detect`: have detectors judge finished runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli._names import DETECTOR, RUN
from mlecore.cli._shared import data_option, echo, json_option, print_json, print_table, runs_option
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.runs.findings import Findings
    from mlecore.runs.record import RunRecord


@click.command("detect")
@click.argument("name", type=RUN, metavar="GROUP | GROUP/RUN")
@click.option(
    "--detector",
    "detectors",
    type=DETECTOR,
    multiple=True,
    metavar="NAME",
    help="A detector; repeatable. [default: all]",
)
@click.option(
    "-D",
    "options",
    multiple=True,
    metavar="[DETECTOR.]NAME=VALUE",
    help="An option of a detector; its name may be left out where one --detector is given.",
)
@data_option
@runs_option
@json_option
def command(
    name: str,
    detectors: tuple[str, ...],
    options: tuple[str, ...],
    data: tuple[Path, ...],
    runs: Path,
    as_json: bool,
) -> None:
    """Have detectors judge the finished runs of a group, or one run beside the others of its group.

    What they find is written to findings/<detector>.json in each run's folder, and `mlecore report` shows it. Options
    that the group's plan has for a detector are its defaults. Exit code 1 if a run is suspicious or breaks a rule; 3 if
    none is, but a detector failed or could not decide.
    """
    from mlecore.data.layout import DataDirs
    from mlecore.detecting.judging import Judges, PublicData
    from mlecore.detecting.ready import choose
    from mlecore.options import pairs_by_plugin

    wanted, group, folders, planned = _runs(runs, name)
    given = pairs_by_plugin(options, "-D", only=detectors[0] if len(detectors) == 1 else None)
    planned = {each: planned[each] for each in planned if not detectors or each in detectors}
    merged = {each: {**planned.get(each, {}), **given.get(each, {})} for each in {**planned, **given}}
    chosen, missing = choose(detectors, merged)
    for why in missing:
        echo(why, err=True)
    if not chosen:
        raise UsageError("no detector can judge here", fix="To see them: mlecore plugins list --kind detector")
    found: list[tuple[RunRecord, Findings]] = []
    with Judges(chosen, PublicData(DataDirs.of(data or folders))) as judges:
        for number, run in enumerate(wanted, 1):
            found += [(run, each) for each in judges.judge(run, group)]
            if sys.stderr.isatty():
                click.echo(f"\r{number} of {len(wanted)} runs", nl=number == len(wanted), err=True)
    _print(found, as_json)
    outcomes = {each.outcome for _, each in found}
    if outcomes & {"violation", "suspicious"}:
        raise click.exceptions.Exit(1)
    if outcomes & {"failed", "undecided"}:
        raise click.exceptions.Exit(3)


def _runs(runs: Path, name: str) -> tuple[list[RunRecord], list[RunRecord], tuple[str, ...], dict[str, dict[str, str]]]:
    """The runs to judge, all of the group that detectors see, its data directories, and its detectors' options."""
    from mlecore.cli.runs._names import group_folder, one_run
    from mlecore.detecting.judging import JUDGED
    from mlecore.runs.contents import check_group
    from mlecore.runs.ownership import require_own
    from mlecore.runs.store import is_group, load_group, open_group

    folder = group_folder(runs, name)
    one = None if is_group(folder) else one_run(runs, name)
    opened = open_group(folder if one is None else one.folder.parent)
    require_own(opened)
    check_group(opened.folder)
    problems: list[str] = []
    group = [run for run in load_group(opened.folder, problems) if run.state in JUDGED]
    for problem in problems:
        echo(problem, err=True)
    wanted = [run for run in group if one is None or run.name == one.name]
    if not wanted:
        raise UsageError(f"{name}: there is nothing to judge, as no run has left anything yet")
    options = {detector: dict(values) for detector, values in opened.plan.execution.detectors.items()}
    return wanted, group, opened.info.data, options


def _print(found: Sequence[tuple[RunRecord, Findings]], as_json: bool) -> None:
    from mlecore.runs.findings import OUTCOMES
    from mlecore.schema import plain

    if as_json:
        print_json([{"name": run.name, **plain(each), "outcome": each.outcome} for run, each in found])
        return
    counts: dict[str, Counter[str]] = {}
    for _, each in found:
        counts.setdefault(each.detector.name, Counter())[each.outcome] += 1
    shown = OUTCOMES[::-1]
    header = ["DETECTOR", "RUNS", *(outcome.upper() for outcome in shown)]
    rows = [
        [detector, str(counted.total()), *(str(counted[outcome]) for outcome in shown)]
        for detector, counted in counts.items()
    ]
    print_table(header, rows)
    for run, each in found:
        for line in _lines(each):
            echo(f"{run.name}: {each.detector.name}: {line}")


def _lines(found: Findings) -> Iterator[str]:
    """What is not clean, with where it shows."""
    from mlecore.runs.findings import place

    if found.failed:
        yield f"failed: {found.failed}"
    for finding in found.findings:
        if finding.verdict != "clean":
            sure = "" if finding.confidence is None else f" ({finding.confidence:.0%} sure)"
            yield f"{finding.verdict}{sure}: {finding.rule}: {finding.summary}"
            yield from (f"  {place(evidence)}" for evidence in finding.evidence[:5])
