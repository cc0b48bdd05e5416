"""The formats of a report: text for a terminal, Markdown, JSON, CSV, a page, and a data frame for notebooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_type_hints

import click
from attrs import asdict

from mle_ext_report.document import Document
from mle_ext_report.export import as_csv, escaped, markdown_table
from mle_ext_report.headline import facts, result, title, warnings
from mle_ext_report.lines import RunLine
from mle_ext_report.sections import brief, sections
from mlecore.cli.shared import medal_style, table_lines
from mlecore.util.printable import printable

if TYPE_CHECKING:
    from pandas import DataFrame

FORMATS = {".txt": "text", ".md": "markdown", ".json": "json", ".csv": "csv", ".html": "html"}
"""Suffix of a file -> the format that it is written in."""

_SPARE = (
    *("TOKENS", "US DOLLARS", "TIME", "BRONZE %", "SILVER %", "GOLD %", "VALID %"),
    *("BRONZE", "GOLD", "METRIC", "SAMPLE", "DATA"),
    *("RATE", "p", "WINS BY SCORE", "COMPETITIONS", "95 % INTERVAL"),
    *("KNOWN LEAK", "REPORTS", "DATE", "WHERE", "FOR EXAMPLE"),
)
"""Columns that a narrow terminal lacks, the most dispensable first."""
_NESTED = ("suspicions", "remarks", "judged")
_DTYPES: Mapping[object, str] = {float | None: "float64", int | None: "Int64", bool | None: "boolean"}


def rendered(document: Document, form: str, width: int | None = None) -> str:
    """The report in one of FORMATS. ``width``: columns to which the tables of "text" are folded."""
    if form == "json":
        return json.dumps(document.to_json(), indent=2, default=str) + "\n"
    if form == "html":
        from mle_ext_report.html import page

        return page(document)
    if form == "markdown":
        return printable(markdown(document), lines=True)
    return to_csv(document) if form == "csv" else text(document, width)


def text(document: Document, width: int | None = None) -> str:
    """About 40 lines for a terminal, with styles."""

    def folded(words: str) -> str:
        return words if width is None else click.wrap_text(words, width)

    about = "; ".join(f"{name.lower()}: {value}" for name, value in facts(document))
    lines = [click.style(printable(title(document)), bold=True), folded(about)]
    lines += [click.style(folded(printable(warning)), fg="yellow") for warning in warnings(document)]
    lines += [folded(result(document)), ""]
    for section in brief(document):
        lines.append(click.style(printable(section.title), bold=True))
        if section.rows:
            first, *rest = table_lines(section.header, section.rows, width, _SPARE)
            lines += [click.style(first, bold=True), *map(medal_style, rest)]
        lines += [*map(folded, section.notes), *filter(None, [section.code]), ""]
    lines.append(folded("More, with every run, rate and condition: --output report.html (or .md, .csv, .json)"))
    return "\n".join(lines) + "\n"


def markdown(document: Document) -> str:
    """The whole report with pipe tables."""
    said = (*warnings(document), result(document))
    about = "\n".join(f"- {name}: {escaped(value)}" for name, value in facts(document))
    parts = [f"# {escaped(title(document))}", about, *map(escaped, said)]
    for section in sections(document):
        parts.append(f"## {escaped(section.title)}")
        if section.rows:
            parts.append(markdown_table(section.header, section.rows))
        if section.notes:
            parts.append("\n".join(f"- {escaped(note)}" for note in section.notes))
        if section.code:
            parts.append(f"```toml\n{section.code}\n```")
    return "\n\n".join(parts) + "\n"


def to_csv(document: Document) -> str:
    """A line per run below the header."""
    found = _rows(document)
    return as_csv(list(found[0]) if found else [], (row.values() for row in found))


def to_frame(document: Document) -> DataFrame:
    """A row per run. Column types follow from the fields of RunLine, so that they are the same for every report."""
    import pandas as pd

    frame = pd.DataFrame(_rows(document))
    kinds = get_type_hints(RunLine)
    frame = frame.astype({name: dtype for name in frame if (dtype := _DTYPES.get(kinds.get(name)))})
    frame.attrs["report"] = document.to_json()
    return frame


def _rows(document: Document) -> list[dict[str, Any]]:
    """A dictionary per run; ``suspicions`` is the number of suspicious findings, ``judged`` is text."""
    return [
        {
            "setup": setup.key,
            "name": setup.name,
            **{name: value for name, value in asdict(line, recurse=False).items() if name not in _NESTED},
            "suspicions": len(line.suspicions),
            "judged": " ".join(f"{detector}={outcome}" for detector, outcome in line.judged.items()),
        }
        for setup in document.setups
        for line in setup.runs
    ]
