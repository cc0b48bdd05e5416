"""A report as Markdown, and tables as CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from mlecore.printable import printable
from mlecore.reports.document import Document
from mlecore.reports.headline import facts, result, title, warnings
from mlecore.reports.sections import sections

_FORMULA = tuple(
    "=+-@\t\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_NUMBER = r"[-+]?(?:\d[\d.,]*(?:e[-+]?\d+)?|inf|nan)"
_NUMBERS = re.compile(rf"-|{_NUMBER}(?: (?:to|±) {_NUMBER})?", re.IGNORECASE | re.ASCII)


def markdown(document: Document) -> str:
    """The whole report with pipe tables."""
    said = (*warnings(document), result(document))
    about = "\n".join(f"- {name}: {_escape(value)}" for name, value in facts(document))
    parts = [f"# {_escape(title(document))}", about, *map(_escape, said)]
    for section in sections(document):
        parts.append(f"## {_escape(section.title)}")
        if section.rows:
            parts.append(markdown_table(section.header, section.rows))
        if section.notes:
            parts.append("\n".join(f"- {_escape(note)}" for note in section.notes))
    return "\n\n".join(parts) + "\n"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """With pipes; what Markdown or HTML would interpret is escaped."""
    return "\n".join([_row(header), "|" + "---|" * len(header), *map(_row, rows)])


def as_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Text that a spreadsheet would take for a formula begins with an apostrophe; numbers stay. None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(map(_csv_cell, row))
    return out.getvalue()


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = printable(value, lines=True)  # a carriage return would begin a row
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBERS.fullmatch(text) else text


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escape, cells)) + " |"


def _escape(text: str) -> str:
    """Escapes what Markdown, or the HTML in it, would interpret."""
    for mark in ("\\", "|", "<", ">", "[", "]", "*", "`", "_"):
        text = text.replace(mark, f"\\{mark}")
    return text
