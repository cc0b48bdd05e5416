"""The report in some 40 lines of a terminal: the sections of the whole one, each cut to its most telling rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from mlecore.reports.document import Document, SetupSummary
from mlecore.reports.sections import problems
from mlecore.reports.sections.conditions import differences
from mlecore.reports.sections.editions import editions
from mlecore.reports.sections.pairs import pairs
from mlecore.reports.sections.published import not_comparable, published_entries
from mlecore.reports.sections.results import by_competition, results
from mlecore.reports.sections.section import Section
from mlecore.reports.sections.setups import overview, ranked

_SETUPS, _ROWS, _FEW = 20, 10, 4
_COLUMNS = 5  # setups in the table of results


def brief(document: Document) -> Iterator[Section]:
    """Those that are not empty."""
    setups = document.setups
    found = (
        _cut(overview(setups), _SETUPS),
        _results(setups),
        _cut(problems.failures(setups), _FEW),
        problems.flagged(setups),
        _cut(problems.findings(setups, flagging=True), _FEW),
        *([_cut(pairs(document.comparisons, main=True), _FEW)] if len(setups) > 2 else []),  # the headline has one pair
        _cut(editions(document), _ROWS),
        published_entries(document),
        not_comparable(document),
        _cut(problems.notes(setups), _FEW),
        _cut(differences(setups), _ROWS),
    )
    return (section for section in found if section.rows or section.notes)


def _results(setups: Sequence[SetupSummary]) -> Section:
    """Of the best setups; if competitions are many, those where setups differ most, or have most success."""
    shown = ranked(setups)[:_COLUMNS]
    every = by_competition(shown)
    if len(every) <= _ROWS:
        return results(shown)

    def spread(competition: str) -> tuple[float, float]:
        goals = [sum(line.reached_goal for line in lines) / len(lines) for lines in every[competition].values()]
        return max(goals) - min(goals), max(goals)

    chosen = set(sorted(every, key=spread, reverse=True)[:_ROWS])
    found = results(shown)
    rows = tuple(row for row in found.rows if row[0] in chosen)
    which = "on which setups differ most" if len(shown) > 1 else "with most success"
    title = f"{found.title}: {len(rows)} of {len(every)}, those {which}"
    return evolve(found, title=title, rows=rows)


def _cut(section: Section, most: int) -> Section:
    """With the first rows and notes, and how many more there are."""
    more, notes = len(section.rows) - most, section.notes
    if len(notes) > most:
        notes = (*notes[:most], f"{len(notes) - most} more notes.")
    if more <= 0:
        return evolve(section, notes=notes)
    return evolve(section, rows=section.rows[:most], notes=(f"{more} more.", *notes))
