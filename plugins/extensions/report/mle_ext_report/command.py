"""`mlecore report`: scores, medals, rates and comparisons of groups of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mlecore.cli.names import GROUP
from mlecore.cli.shared import competitions_named, ids_in, runs_option, split_option, terminal_width

_FILE = click.Path(path_type=Path, dir_okay=False)


class _Points(click.ParamType[float]):
    name = "points"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            points = float(value)
        except ValueError:
            points = 0.0
        if not 0 < points < 100:
            self.fail(f"{value} is not between 0 and 100. Name groups before it: GROUP... --power", param, ctx)
        return points


@click.command("report")
@click.argument("groups", type=GROUP, nargs=-1)
@click.option(
    "--grading-reports",
    "files",
    type=_FILE,
    multiple=True,
    help="Grading report in MLE-bench's published format, one per seed; repeatable.",
)
@split_option
@competitions_named("--competition", "competitions", help="Only this competition")
@click.option(
    "--trained-on",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="File with the competitions that a model was trained on (ids or splits, one a line): leave them out.",
)
@click.option("--pad-missing", is_flag=True, help="Count planned runs that are missing as failures.")
@click.option("--mix", is_flag=True, help="Average and compare runs even if they ran under different conditions.")
@click.option("--against", type=click.Choice(["published"]), help="Compare with the published leaderboard.")
@click.option(
    "--power",
    type=_Points(),
    is_flag=False,
    flag_value=10,
    metavar="[POINTS]",
    help="Estimate how many competitions and seeds tell two setups apart by so many percentage points (10 if none are "
    "given), and find a small subset of the competitions that stands for all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "csv", "html"]),
    help="Format of the output; CSV has one row per run. [default: that of the suffix of --output, else text]",
)
@click.option(
    "--output", type=_FILE, help="Write the report to this file (.html, .md, .json, .csv, .txt), and print a summary."
)
@runs_option
def command(
    groups: tuple[str, ...],
    files: tuple[Path, ...],
    split: tuple[str, ...],
    competitions: tuple[str, ...],
    trained_on: Path | None,
    pad_missing: bool,
    mix: bool,
    against: str | None,
    power: float | None,
    form: str | None,
    output: Path | None,
    runs: Path,
) -> None:
    """Report scores, medals and rates of groups of runs, and compare setups.

    GROUPS are names of groups or paths of their folders (or of a run). Runs with the same agent, options and model form
    one setup. Rates are means over seeds, ± one standard error, over all planned runs; incomplete seeds are left out
    unless --pad-missing is given. If conditions differ within a setup (time limit, hardware, data, versions ...), no
    average is reported without --mix, and the exit code is 2. See docs/reports.md.
    """
    from attrs import evolve

    from mle_ext_report.appendix import read_appendices
    from mle_ext_report.benchmark import split_ids
    from mle_ext_report.formats import FORMATS, rendered
    from mle_ext_report.sources import read_sources
    from mle_ext_report.summary import summarise
    from mlecore.errors import UsageError
    from mlecore.util import files as files_

    if output and not (form := form or FORMATS.get(output.suffix.lower())):
        raise UsageError(
            f"the suffix of {output} is that of no format", fix=f"Give --format, or use one of {', '.join(FORMATS)}."
        )
    document = summarise(
        read_sources(groups, files, runs),
        competitions=tuple(dict.fromkeys((*(id for each in split for id in split_ids(each)), *competitions))),
        trained_on=ids_in(trained_on) if trained_on else (),
        pad_missing=pad_missing,
        mix=mix,
        against_published=against == "published",
    )
    appendices, notices = read_appendices(groups, runs)
    document = evolve(document, appendices=appendices, notices=notices)
    if power is not None:
        from mle_ext_report.planning import with_plans

        document = with_plans(document, power)
    if output:
        with files_.output(output) as new:
            new.write_text(click.unstyle(rendered(document, form or "text")), encoding="utf-8", newline="\n")
        form = "text"
    click.echo(rendered(document, form or "text", terminal_width()), nl=False)
    if document.refused:
        raise click.exceptions.Exit(2)
