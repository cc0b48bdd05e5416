"""`mlecore detect`: have detectors judge finished runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import DETECTOR, RUN
from mlecore.cli.shared import data_option, echo, json_option, print_json, print_table, runs_option
from mlecore.util.units import counted

if TYPE_CHECKING:
    from mlecore.detecting.group import Judged
    from mlecore.model.findings import Findings

_SHOWN = 5  # places of a finding, and files that were not read


@click.command("detect")
@click.argument("name", type=RUN, metavar="GROUP | GROUP/RUN")
@click.option(
    "--detector",
    "detectors",
    type=DETECTOR,
    multiple=True,
    metavar="NAME",
    help="Detector to run; repeatable. [default: all]",
)
@click.option(
    "-D",
    "options",
    multiple=True,
    metavar="[DETECTOR.]NAME=VALUE",
    help="Option for a detector; the prefix NAME. may be omitted with a single --detector.",
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
    """Run detectors on the finished runs of a group, or on one run.

    Findings are written to findings/<detector>.json in each run's folder, and `mlecore report` shows them. Options
    default to those of the group's plan. Exit code 1 if a run is suspicious or breaks a rule; 3 if a detector
    failed, could not decide or did not read everything. Notes do not change the exit code.
    """
    from mlecore.detecting.group import detect
    from mlecore.model.options import pairs_by_plugin

    folder, run = _named(runs, name)
    found = detect(
        folder.name,
        run,
        detectors=detectors,
        options=pairs_by_plugin(options, "-D", only=detectors[0] if len(detectors) == 1 else None),
        runs=folder.parent,
        data=data,
        say=partial(echo, err=True),
        progress=_progress if sys.stderr.isatty() else lambda done, total: None,
    )
    _print(found, as_json)
    outcomes = {each.found.outcome for each in found}
    if outcomes & {"violation", "suspicious"}:
        raise click.exceptions.Exit(1)
    if outcomes & {"failed", "undecided"}:
        raise click.exceptions.Exit(3)


def _named(runs: Path, name: str) -> tuple[Path, str | None]:
    """The group's folder, and the name of the run if one is named."""
    from mlecore.cli.runs._names import group_folder, one_run
    from mlecore.runs.folders import is_group

    folder = group_folder(runs, name)
    if is_group(folder):
        return folder, None
    record = one_run(runs, name)
    return record.folder.parent, record.name


def _progress(done: int, total: int) -> None:
    click.echo(f"\r{done} of {counted(total, 'run')}", nl=done == total, err=True)


def _print(found: Sequence[Judged], as_json: bool) -> None:
    from mlecore.model.findings import OUTCOMES
    from mlecore.util.schema import plain

    if as_json:
        print_json([{"name": each.run.name, **plain(each.found), "outcome": each.found.outcome} for each in found])
        return
    counts: dict[str, Counter[str]] = {}
    for each in found:
        counts.setdefault(each.found.detector.name, Counter())[each.found.outcome] += 1
    shown = OUTCOMES[::-1]
    header = ["DETECTOR", "RUNS", *(outcome.upper() for outcome in shown)]
    rows = [
        [detector, str(counted.total()), *(str(counted[outcome]) for outcome in shown)]
        for detector, counted in counts.items()
    ]
    print_table(header, rows)
    for each in found:
        for line in _lines(each.found):
            echo(f"{each.run.name}: {each.found.detector.name}: {line}")


def _lines(found: Findings) -> Iterator[str]:
    """What is not clean, with where it shows."""
    from mlecore.model.findings import place

    if found.failed:
        yield f"failed: {found.failed}"
    undecided: dict[str, list[str]] = {}
    for finding in found.findings:
        if finding.verdict == "undecided":
            undecided.setdefault(finding.summary, []).append(finding.rule)
        elif finding.verdict != "clean":
            sure = "" if finding.confidence is None else f" ({finding.confidence:.0%} sure)"
            yield f"{finding.verdict}{sure}: {finding.rule}: {finding.summary}"
            yield from (f"  {place(evidence)}" for evidence in finding.evidence[:_SHOWN])
    for why, rules in undecided.items():
        yield f"undecided: {', '.join(rules)}: {why}"
    for each in found.not_read[:_SHOWN]:
        yield f"not read: {each.file}: {each.why}"
    if len(found.not_read) > _SHOWN:
        yield f"not read: {len(found.not_read) - _SHOWN} more, which the findings file names"
