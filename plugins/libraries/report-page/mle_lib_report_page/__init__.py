"""The report as one page for browsers and printers: tables and inline SVG. Nothing is fetched; only sorting runs.

Plots are drawn by matplotlib rather than by a library in the page: for two groups of 225 runs its SVG has some hundred
kB, while the scripts of plotly (4.5 MB) and vega (1 MB) alone are larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from attrs import frozen
from markupsafe import Markup

from mle_lib_report_page.fonts import list_fonts
from mlecore.errors import MlecoreError
from mlecore.reports.cells import one_line, score
from mlecore.reports.document import Document, RunLine, SetupSummary
from mlecore.reports.sections import sections
from mlecore.reports.sections.section import Section

_HERE = Path(__file__).parent


def write_page(document: Document, path: Path) -> None:
    """Raises MlecoreError if the file cannot be written."""
    text = page(document)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MlecoreError(f"the page could not be written to {path}: {error.strerror}") from None


def page(document: Document) -> str:
    """The page as text."""
    list_fonts()
    from mle_lib_report_page import plots

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = one_line
    drawn = {name: Markup(svg) for name, svg in plots.draw(document).items()}
    by_kind: dict[str, list[Section]] = {}
    for section in sections(document):
        by_kind.setdefault(section.id, []).append(section)
    return environment.get_template("page.html").render(
        document=document,
        sections=by_kind,
        contents=_contents(by_kind, drawn),
        plots=drawn,
        positions=[name for name in drawn if name.startswith("positions")],
        matrices=[matrix(setup) for setup in document.setups],
        style=Markup((_HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((_HERE / "page.js").read_text(encoding="utf-8")),
    )


_PARTS: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("rates", "Rates", ("overview", "rates", "headline")),
    ("matrix", "Medals", ("runs",)),
    ("positions", "Scores between sample and gold", ("positions",)),
    ("progress", "Over time", ("progress",)),
    ("comparison", "Comparison", ("comparison", "side-by-side")),
    ("kinds", "Best of k, kinds of competitions", ("pass-at-k", "slices")),
    ("failures", "Failures and findings", ("failures", "findings", "detectors")),
    ("published", "The published leaderboard", ("published",)),
    ("runs", "Runs", ("runs",)),
    ("provenance", "Conditions and provenance", ("conditions",)),
)
"""Parts of the page: id, title, and the sections or plots of which one must be there."""


def _contents(by_kind: Mapping[str, object], drawn: Mapping[str, object]) -> list[tuple[str, str]]:
    there = {*by_kind, *(name.split("-")[0] for name in drawn)}
    return [(id, title) for id, title, needs in _PARTS if there & set(needs)]


@frozen(kw_only=True)
class Cell:
    """A run's result as a mark, a class for its colour, and words."""

    mark: str
    kind: str
    words: str


@frozen(kw_only=True)
class Matrix:
    """Competitions x seeds of one setup."""

    setup: SetupSummary
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def matrix(setup: SetupSummary) -> Matrix:
    """One row per competition, one cell per seed; None if nothing was run."""
    columns = tuple(
        dict.fromkeys(line.column for line in sorted(setup.runs, key=lambda line: (line.seed, line.column)))
    )
    rows: dict[str, dict[str, Cell]] = {}
    for line in setup.runs:
        rows.setdefault(line.competition, {})[line.column] = _cell(line)
    return Matrix(
        setup=setup,
        columns=columns,
        rows=tuple(
            (competition, tuple(cells.get(column) for column in columns)) for competition, cells in rows.items()
        ),
    )


_MARKS: Sequence[tuple[str, str]] = (("gold", "G"), ("silver", "S"), ("bronze", "B"))


def _cell(line: RunLine) -> Cell:
    where = f"{line.competition}, seed {line.column}: "
    for medal, mark in _MARKS:
        if line.medal == medal:
            return Cell(mark=mark, kind=medal, words=f"{where}{medal}, {score(line)}")
    if line.submission == "valid" and (line.above_median or line.beats_sample):
        what = "above the median" if line.above_median else "beats the sample"
        return Cell(mark="+", kind="above", words=f"{where}{what}, {score(line)}")
    if line.submission == "valid":
        return Cell(mark="·", kind="valid", words=f"{where}valid, {score(line)}")
    if line.submission in ("invalid", "none"):
        words = "no submission" if line.submission == "none" else f"invalid: {line.why}"
        return Cell(mark="×", kind="failed", words=one_line(f"{where}{words}"))
    return Cell(mark="?", kind="open", words=one_line(f"{where}{line.submission}"))
