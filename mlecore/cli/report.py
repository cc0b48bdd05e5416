"""`mlecore report`: scores, medals, rates and comparisons of groups of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli._names import GROUP
from mlecore.cli._shared import (
    competitions_named,
    echo,
    json_option,
    print_json,
    print_table,
    runs_option,
    split_option,
)
from mlecore.errors import UsageError
from mlecore.printable import printable

if TYPE_CHECKING:
    from mlecore.reports.document import Document

_FILE = click.Path(path_type=Path, dir_okay=False)


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
@click.option("--pad-missing", is_flag=True, help="Count planned runs that are missing as failures.")
@click.option("--mix", is_flag=True, help="Average and compare runs even if they ran under different conditions.")
@click.option("--against", type=click.Choice(["published"]), help="Compare with the published leaderboard.")
@click.option("--html", type=_FILE, help="Also write a self-contained HTML page to this file.")
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown.")
@click.option("--csv", "form", flag_value="csv", help="Print CSV, one row per run.")
@runs_option
@json_option
def command(
    groups: tuple[str, ...],
    files: tuple[Path, ...],
    split: tuple[str, ...],
    competitions: tuple[str, ...],
    pad_missing: bool,
    mix: bool,
    against: str | None,
    html: Path | None,
    form: str | None,
    runs: Path,
    as_json: bool,
) -> None:
    """Report scores, medals and rates of groups of runs, and compare setups.

    GROUPS are names of groups or paths of their folders (or of a run). Runs with the same agent, options and model form
    one setup. Rates are means over seeds, ± one standard error, over all planned runs; incomplete seeds are left out
    unless --pad-missing is given. If conditions differ within a setup (time limit, hardware, data, versions ...), no
    average is reported without --mix, and the exit code is 2. See docs/reports.md.
    """
    if as_json and form:
        raise UsageError("give one of --json, --markdown and --csv")
    from attrs import evolve

    from mlecore.reports.appendix import read_appendices
    from mlecore.reports.benchmark import split_ids
    from mlecore.reports.sources import read_sources
    from mlecore.reports.summary import summarise

    document = summarise(
        read_sources(groups, files, runs),
        competitions=tuple(dict.fromkeys((*(id for each in split for id in split_ids(each)), *competitions))),
        pad_missing=pad_missing,
        mix=mix,
        against_published=against == "published",
    )
    appendices, notices = read_appendices(groups, runs)
    document = evolve(document, appendices=appendices, notices=notices)
    if html:
        try:
            from mle_lib_pages.report import write_page
        except ImportError as error:
            raise UsageError(
                f"pages need {error.name}, which is not installed", fix="pip install 'mlecore[html]'"
            ) from None
        write_page(document, html)
    _print(document, "json" if as_json else form)
    if document.refused:
        raise click.exceptions.Exit(2)


def _print(document: Document, form: str | None) -> None:
    if form == "json":
        print_json(document.to_json())
    elif form == "markdown":
        from mlecore.reports.text import markdown

        click.echo(printable(markdown(document), lines=True), nl=False)
    elif form == "csv":
        from mlecore.reports.tidy import to_csv

        click.echo(to_csv(document), nl=False)
    else:
        _print_text(document)


def _print_text(document: Document) -> None:
    from mlecore.reports.headline import facts, result, title, warnings
    from mlecore.reports.sections.brief import brief

    click.secho(printable(title(document)), bold=True)
    echo("; ".join(f"{name.lower()}: {value}" for name, value in facts(document)))
    for warning in warnings(document):
        click.secho(printable(warning), fg="yellow")
    echo(result(document))
    click.echo()
    for section in brief(document):
        click.secho(printable(section.title), bold=True)
        if section.rows:
            print_table(section.header, section.rows)
        for note in section.notes:
            echo(note)
        click.echo()
    click.echo("More, with every run, rate and condition: --markdown, --html FILE, --csv or --json")
