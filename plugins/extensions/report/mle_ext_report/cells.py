"""Values as the cells of a table, and tables as the sections of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from mle_ext_report.lines import RunLine
from mle_ext_report.rates import PERCENTILE, Rate
from mle_ext_report.statistics import Interval
from mlecore.util.printable import printable
from mlecore.util.units import show_number

FLAGGED = "flagged as failures"
NONE = "-"


def score(line: RunLine) -> str:
    if line.score is not None:
        return f"{line.score:.5f}"
    return line.score_text or NONE


def threshold(value: float | None) -> str:
    return NONE if value is None else show_number(value)


def number(value: float | None, digits: int) -> str:
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def quantity(value: float | None) -> str:
    """Three significant digits below 100, whole with separators above."""
    return NONE if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rate_name(rate: str) -> str:
    """Such as "any medal"."""
    return rate.replace("_", " ")


def rate_heading(rate: str) -> str:
    """Such as "ANY MEDAL %"; a percentile is in percent by its name."""
    return rate.upper() if rate == PERCENTILE else f"{rate_name(rate).upper()} %"


def rate(value: Rate | None) -> str:
    return NONE if value is None else str(value)


def out_of(count: int, planned: int) -> str:
    """Such as "7 of 9", or "9" where that is all."""
    return str(count) if count == planned else f"{count} of {planned}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The first ones, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def interval(value: Interval | None, digits: int = 1) -> str:
    return NONE if value is None else f"{value[0]:.{digits}f} to {value[1]:.{digits}f}"


def one_line(text: str) -> str:
    """Text in printable characters on one line: words of agents and detectors may have several lines."""
    return printable(" ".join(text.split()))


@frozen(kw_only=True)
class Section:
    """A table with its title, sentences below it, and at last a line to copy."""

    id: str
    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    code: str = ""


def section(
    id: str, title: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> Section:
    """Create a section: cells and notes on one line each, without columns that are empty in every row."""
    cleaned = [tuple(map(one_line, row)) for row in rows]
    kept = [number for number in range(len(header)) if any(row[number] != NONE for row in cleaned)]
    return Section(
        id=id,
        title=title,
        header=tuple(header[number] for number in kept),
        rows=tuple(tuple(row[number] for number in kept) for row in cleaned),
        notes=tuple(map(one_line, notes)),
    )


def without_column(found: Section, name: str) -> Section:
    """Without the column of this heading, if there is one."""
    kept = [number for number, each in enumerate(found.header) if each != name]
    rows = tuple(tuple(row[number] for number in kept) for row in found.rows)
    return evolve(found, header=tuple(found.header[number] for number in kept), rows=rows)


def said_once(notes: Iterable[tuple[str, str]], keys: int) -> list[str]:
    """Each sentence once, after the keys of its setups unless it is true of all ``keys`` setups."""
    found: dict[str, list[str]] = {}
    for key, note in notes:
        found.setdefault(note, []).append(key)
    return [note if len(of) == keys else f"{', '.join(of)}: {note}" for note, of in found.items()]
