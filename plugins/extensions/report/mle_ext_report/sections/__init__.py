"""A Document as tables of text, in the order of the report: what text, Markdown and HTML all show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from mle_ext_report.cells import Section, section
from mle_ext_report.document import Document, SetupSummary, ranked
from mle_ext_report.sections import pairs, problems, results
from mle_ext_report.sections import setups as of_setups
from mle_ext_report.sections.methods import conditions, differences, methods, unlike
from mle_ext_report.sections.pairs import not_comparable, published_entries
from mle_ext_report.sections.planning import planning

_SETUPS, _ROWS, _FEW = 20, 10, 4  # rows of tables in the brief report
_COLUMNS = 5  # setups in its table of results


def sections(document: Document) -> Iterator[Section]:
    """Every section that is not empty."""
    of = document.setups
    found = (
        of_setups.overview(of),
        of_setups.split_rates(of),
        results.results(of),
        results.kinds(of),
        results.best_of(of),
        results.progress(of),
        problems.failures(of),
        problems.endings(of),
        problems.flagged(of),
        problems.findings(of),
        problems.detectors(of),
        pairs.pairs(document.comparisons),
        pairs.editions(document),
        published_entries(document),
        not_comparable(document),
        *planning(document),
        *(section(f"appendix-{n}", a.title, a.header, a.rows, a.notes) for n, a in enumerate(document.appendices)),
        problems.notes(of),
        differences(of),
        conditions(of),
        unlike(of),
        methods(document),
        results.runs(of),
    )
    return (section for section in found if section.rows or section.notes)


def brief(document: Document) -> Iterator[Section]:
    """The report in about 40 lines of a terminal: sections that are not empty, cut to their most telling rows. With
    --power only its answers."""
    if document.power:
        return planning(document)
    of = document.setups
    found = (
        _cut(of_setups.in_small_print(of_setups.overview(of)), _SETUPS),
        _results(of),
        _cut(problems.failures(of), _FEW),
        problems.flagged(of),
        _cut(problems.findings(of, flagging=True), _FEW),
        *([_cut(pairs.pairs(document.comparisons, main=True), _FEW)] if len(of) > 2 else []),  # else in the headline
        _cut(pairs.editions(document), _ROWS),
        published_entries(document),
        not_comparable(document),
        _cut(problems.notes(of), _FEW),
        _cut(differences(of), _ROWS),
    )
    return (section for section in found if section.rows or section.notes)


def _results(setups: Sequence[SetupSummary]) -> Section:
    """Results of the best setups; of many competitions, those where setups differ most, or succeed most."""
    shown = ranked(setups)[:_COLUMNS]
    every = results.by_competition(shown)
    if len(every) <= _ROWS:
        return results.results(shown)

    def spread(competition: str) -> tuple[float, float]:
        goals = [sum(line.reached_goal for line in lines) / len(lines) for lines in every[competition].values()]
        return max(goals) - min(goals), max(goals)

    chosen = set(sorted(every, key=spread, reverse=True)[:_ROWS])
    found = results.results(shown)
    rows = tuple(row for row in found.rows if row[0] in chosen)
    which = "on which setups differ most" if len(shown) > 1 else "with most success"
    title = f"{found.title}: {len(rows)} of {len(every)}, those {which}"
    return evolve(found, title=title, rows=rows)


def _cut(section: Section, most: int) -> Section:
    """Keep the first rows and notes, and say how many more there are."""
    more, notes = len(section.rows) - most, section.notes
    if len(notes) > most:
        notes = (*notes[:most], f"{len(notes) - most} more notes.")
    if more <= 0:
        return evolve(section, notes=notes)
    return evolve(section, rows=section.rows[:most], notes=(f"{more} more.", *notes))
