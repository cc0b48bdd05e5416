"""The report as one page: what it is about, one table, the medals, the scores, what went wrong, pairs, and methods."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2

from mle_lib_pages.page import environment, inline
from mle_lib_pages.report import figures
from mle_lib_pages.report.matrix import matrix
from mle_lib_pages.report.pairs import triangle
from mle_lib_pages.report.setups import setup_table
from mlecore import files
from mlecore.reports import headline
from mlecore.reports.cells import NONE, one_line
from mlecore.reports.document import Document
from mlecore.reports.methods import methods
from mlecore.reports.sections import sections
from mlecore.reports.sections.section import Section
from mlecore.reports.sections.setups import ranked

_HERE = Path(__file__).parent
_NUMBER = re.compile(r"[-+<]? ?[\d,.]+(e[-+]\d+)?( (±|of|to) -?[\d,.]+)?|(\d+[dhms] ?)+")


def write_page(document: Document, path: Path) -> None:
    """Raises UsageError if the file cannot be written."""
    text = page(document)
    with files.output(path) as new:
        new.write_text(text, encoding="utf-8", newline="\n")


def page(document: Document) -> str:
    """The page as text."""
    setups = ranked(document.setups)
    numbers = {setup.key: number for number, setup in enumerate(setups)}
    templates = _templates()
    found = {section.id: section for section in sections(document)}
    return templates.get_template("report.html").render(
        head=inline(css=(_HERE / "report.css").read_text(encoding="utf-8")),
        title=one_line(headline.title(document)),
        facts_of=headline.facts(document),
        warnings=tuple(headline.warnings(document)),
        result=headline.result(document),
        setups=setups,
        numbers=numbers,
        names={key: one_line(name) for key, name in headline.short_names(document.setups).items()},
        sections=found,
        table=setup_table(found["setups"], setups, numbers),
        matrix=matrix(setups),
        strips=figures.strips(setups, numbers),
        progress=figures.progress(setups, numbers),
        cost=figures.cost(setups, numbers),
        triangle=triangle(document.comparisons, setups),
        methods=methods(document),
        appendices={f"appendix-{n}": figures.appendix(each) for n, each in enumerate(document.appendices)},
        document=document,
        run_ids=[f"run-{setup.key}-{number}" for setup in document.setups for number in range(len(setup.runs))],
    )


def _templates() -> jinja2.Environment:
    found = environment(_HERE)
    found.filters |= {"plain": one_line, "heading": _heading, "headings": lambda names: tuple(map(_heading, names))}
    found.globals["numeric"] = _numeric
    return found


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
