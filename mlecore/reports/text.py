"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlecore.reports.document import Document
from mlecore.reports.headline import facts, result, title, warnings
from mlecore.reports.sections import sections


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


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escape, cells)) + " |"


def _escape(text: str) -> str:
    """Escapes what Markdown, or the HTML in it, would interpret."""
    for mark in ("\\", "|", "<", ">", "[", "]", "*", "`", "_"):
        text = text.replace(mark, f"\\{mark}")
    return text
