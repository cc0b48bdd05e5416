"""What editions change, and how far apart an agent's scores on them are."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from mlecore.reports.cells import NONE, number
from mlecore.reports.document import Document
from mlecore.reports.editions import Change
from mlecore.reports.sections.section import Section, section
from mlecore.units import counted


def editions(document: Document) -> Section:
    """A row per competition and pair of setups of one agent on two editions."""
    header = ["PAIR", "COMPETITION", "MEDALS", "SCORE BEFORE", "SCORE AFTER", "DIFFERENCE", "POSITION BEFORE"]
    header += ["POSITION AFTER", "WHAT CHANGED"]
    rows = [
        (
            f"{row.a} - {row.b}",
            row.competition,
            row.comparability or NONE,
            number(row.a_score, 5),
            number(row.b_score, 5),
            NONE if row.difference is None else f"{row.difference:+.5f}",
            number(row.a_position, 2),
            number(row.b_position, 2),
            row.changes or NONE,
        )
        for row in document.editions
    ]
    return section("editions", "The same agent on two editions", header, rows, _notes(document))


def _notes(document: Document) -> Iterator[str]:
    edition = {setup.key: setup.edition for setup in document.setups}
    pairs = dict.fromkeys((row.a, row.b) for row in document.editions)
    for a, b in pairs:
        rows = [row for row in document.editions if (row.a, row.b) == (a, b)]
        yield f"{a} - {b}: from {edition[a]} to {edition[b]}{_apart(rows)}."
    if pairs:
        yield "Editions differ in data, checks or metrics: their scores are not averaged, nor tested for a difference."


def _apart(rows: Sequence[Change]) -> str:
    """How far apart, on the scale that all competitions share."""
    both = [
        (row.a_position, row.b_position) for row in rows if row.a_position is not None and row.b_position is not None
    ]
    if not both:
        return ""
    a, b = (statistics.fmean(places) for places in zip(*both, strict=True))
    return f", mean position {a:.2f} to {b:.2f} ({b - a:+.2f}) over {counted(len(both), 'competition')}"
