"""A report for a terminal, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlecore.reports.cells import one_line
from mlecore.reports.document import Document
from mlecore.reports.sections import sections
from mlecore.reports.sections.section import Section


def lines(document: Document) -> Iterator[tuple[str, Section | None]]:
    """What to print, in order: headings of setups with None, then each section under its title."""
    current = None
    for section in sections(document):
        if section.setup and section.setup != current:
            yield _heading(document, section.setup), None
        current = section.setup
        yield section.title, section


def _heading(document: Document, key: str) -> str:
    setup = next(setup for setup in document.setups if setup.key == key)
    return one_line(f"{key}: {setup.title}")


def markdown(document: Document) -> str:
    """The whole report as Markdown with pipe tables."""
    parts = [f"# Report\n\nMade by mlecore {document.mlecore} at {document.created_at}."]
    for title, section in lines(document):
        if section is None:
            parts.append(f"## {_escape(title)}")
            continue
        body = [f"{'###' if section.setup else '##'} {_escape(title)}"]
        if section.rows:
            body.append(markdown_table(section.header, section.rows))
        body.append("\n".join(f"- {_escape(note)}" for note in section.notes))
        parts.append("\n\n".join(filter(None, body)))
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
