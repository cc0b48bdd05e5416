"""The report as one page: what it is about, one table, the medals, the scores, what went wrong, pairs, and methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mle_ext_report import headline
from mle_ext_report.cells import NONE, Section, one_line, rate, without_column
from mle_ext_report.document import Document, SetupSummary, ranked
from mle_ext_report.html import figures
from mle_ext_report.html.matrix import matrix
from mle_ext_report.html.pairs import triangle
from mle_ext_report.html.winners import winners
from mle_ext_report.pages import environment, inline
from mle_ext_report.sections import sections
from mle_ext_report.sections.methods import MAIN, alike, unlike
from mle_ext_report.sections.results import kinds_of_data
from mle_ext_report.sections.setups import DETAILS, overview

_HERE = Path(__file__).parent
_NUMBER = re.compile(r"[-+<>]? ?[\d,.]+(e[-+]\d+)?( %|( (±|of|to) -?[\d,.]+)?)|(\d+[dhms] ?)+")


def page(document: Document) -> str:
    """The page as text."""
    setups = ranked(document.setups)
    numbers = {setup.key: number for number, setup in enumerate(document.setups)}
    templates = environment(_HERE)
    templates.filters |= {"heading": _heading, "headings": lambda names: tuple(map(_heading, names))}
    templates.globals |= {"numeric": _numeric, "split_rate": _split_rate}
    return templates.get_template("report.html").render(
        head=inline(css=(_HERE / "report.css").read_text(encoding="utf-8")),
        title=one_line(headline.title(document)),
        facts_of=headline.facts(document),
        warnings=tuple(headline.warnings(document)),
        winners=winners(document.setups, numbers),
        result=headline.result(document),
        setups=setups,
        numbers=numbers,
        names={setup.key: setup.name for setup in setups},
        overview=without_column(overview(setups), DETAILS),
        sections={section.id: section for section in sections(document)},
        splits=_splits(setups),
        matrix=matrix(setups),
        data={one_line(id): kind for id, kind in kinds_of_data(setups).items() if kind != NONE},
        alike=[(name[0].upper() + name[1:], value) for name, value in alike(setups).items() if name in MAIN],
        unlike=unlike(setups),
        strips=figures.strips(setups, numbers),
        progress=figures.progress(setups, numbers),
        cost=figures.cost(setups, numbers),
        triangle=triangle(document.comparisons, setups),
        appendices={f"appendix-{n}": figures.appendix(each) for n, each in enumerate(document.appendices)},
        document=document,
        run_ids=[f"run-{setup.key}-{number}" for setup in document.setups for number in range(len(setup.runs))],
    )


def _splits(setups: Sequence[SetupSummary]) -> tuple[str, ...]:
    """Lists of competitions that have rates; empty if there is only one."""
    found = tuple(dict.fromkeys(row.rates.split for setup in setups for row in setup.rates if row.rates.seeds))
    return found if len(found) > 1 else ()


def _split_rate(setup: SetupSummary, split: str) -> str:
    """How often the setup reached its goal."""
    found = next((row.rates for row in setup.rates if row.rates.split == split), None)
    return rate(found.rates[setup.goal]) if found else NONE


def _heading(name: str) -> str:
    """ "ANY MEDAL %" -> "Any medal %"; keys of setups stay."""
    if len(name) <= 2:
        return name
    return (name[0] + name[1:].lower()).replace("Us dollars", "US dollars").replace("(holm)", "(Holm)")


def _numeric(section: Section) -> tuple[str, ...]:
    """Headings of the columns that hold numbers only."""
    columns = zip(section.header, zip(*section.rows, strict=True), strict=True)
    return tuple(
        _heading(name)
        for name, cells in columns
        if all(cell in (NONE, "") or _NUMBER.fullmatch(cell) for cell in cells)
    )
