"""A Document as tables of text, in the order of the report: what text, Markdown and HTML all show."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore.reports.document import Document
from mlecore.reports.sections import problems, results
from mlecore.reports.sections.conditions import conditions, differences, methods
from mlecore.reports.sections.editions import editions
from mlecore.reports.sections.pairs import pairs
from mlecore.reports.sections.published import not_comparable, published_entries
from mlecore.reports.sections.section import Section, section
from mlecore.reports.sections.setups import overview, split_rates


def sections(document: Document) -> Iterator[Section]:
    """Every section that is not empty."""
    return (found for found in _all(document) if found.rows or found.notes)


def _all(document: Document) -> Iterator[Section]:
    setups = document.setups
    yield overview(setups)
    yield split_rates(setups)
    yield results.results(setups)
    yield results.kinds(setups)
    yield results.best_of(setups)
    yield results.progress(setups)
    yield problems.failures(setups)
    yield problems.endings(setups)
    yield problems.flagged(setups)
    yield problems.findings(setups)
    yield problems.detectors(setups)
    yield pairs(document.comparisons)
    yield editions(document)
    yield published_entries(document)
    yield not_comparable(document)
    for number, each in enumerate(document.appendices):
        yield section(f"appendix-{number}", each.title, each.header, each.rows, each.notes)
    yield problems.notes(setups)
    yield differences(setups)
    yield conditions(setups)
    yield methods(document)
    yield results.runs(setups)
