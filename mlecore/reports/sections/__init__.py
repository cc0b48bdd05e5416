"""A Document as tables of text: what text, Markdown and HTML all show."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore.reports.document import Document
from mlecore.reports.sections.comparisons import comparison_section, side_by_side
from mlecore.reports.sections.overview import conditions, overview
from mlecore.reports.sections.published import not_comparable, published_entries
from mlecore.reports.sections.section import Section
from mlecore.reports.sections.setups import setup_sections


def sections(document: Document) -> Iterator[Section]:
    """Every section that is not empty, in the order of the report."""
    yield overview(document.setups)
    for setup in document.setups:
        yield from setup_sections(setup)
    if document.side_by_side:
        yield side_by_side(document.side_by_side)
    yield from map(comparison_section, document.comparisons)
    if len(document.comparisons) > 1:
        note = (
            f"{len(document.comparisons)} pairs are compared. HOLM is p corrected for their number by Holm's method, "
            "rate by rate; intervals and P are those of each pair alone."
        )
        yield Section(id="comparisons", title="All comparisons", notes=(note,))
    if document.published:
        yield published_entries(document)
        yield from (not_comparable(own) for own in document.own)
    yield conditions(document.setups)
