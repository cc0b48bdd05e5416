"""The figures in the tables of a report's page, against those computed here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from recomputed.rows import WORDS, Cells, table_rows
from recomputed.tables import Table, tables

NO_FIGURES = ("Conditions", "Not alike")


def page_differences(expected: Mapping[str, Any], html: str) -> Iterator[str]:
    """What a table of the page says otherwise; and each table, row and column that nothing was computed for."""
    wanted = dict(table_rows(expected))
    found = {
        re.sub(r"^([A-Z]): .*\s+against\s+([A-Z]): .*", r"\1 against \2", each.title): each for each in tables(html)
    }
    for title in found.keys() | {title for title, rows in wanted.items() if rows}:
        if title not in found:
            yield f"{title}: there is no such table"
        elif title in wanted:
            yield from _table(title, wanted[title], found[title])
        elif not title.endswith(NO_FIGURES):
            yield f"{title}: nothing was computed for it"
    for sentence in _sentences(expected):
        if sentence not in html:
            yield f"it does not say: {sentence}"
    yield from _dots(expected, html)


def _title(table: Table) -> str:
    """Without what the setups are called."""
    return re.sub(r"^([A-Z]): .*\s+against\s+([A-Z]): .*", r"\1 against \2", table.title)


def _sentences(expected: Mapping[str, Any]) -> Iterator[str]:
    for setup in expected["setups"]:
        beaten = [row["beats_sample"] for row in setup["runs"].rows.values()]
        if any(each is not None for each in beaten) and not all(beaten):
            yield f"{beaten.count(True)} of {len(beaten)} run{'s' * (len(beaten) > 1)} beat the sample submission"
        if setup["position"] is not None:
            yield f"Mean position over {setup['position_competitions']} competition"
            yield f"between the sample submission (0) and gold (1): {setup['position']:.2f}"
        if setup["process_ends"].keys() > {"finished"}:
            for how, count in setup["process_ends"].items():
                yield f"{count} {how}"
    for found in expected["comparisons"]:
        yield f"A run of A beats one of B with a probability of {found['a_wins']:.2f}"


def _dots(expected: Mapping[str, Any], html: str) -> Iterator[str]:
    """Dots of runs must lie where their positions are, on one scale; a dot leads to the run's row."""
    places = {
        f"run-{key}-{number}": row["position"]
        for key, setup in zip("ABCDEFGH", expected["setups"], strict=False)
        for number, row in enumerate(setup["runs"].rows.values())
        if row["position"] is not None
    }
    drawn = {
        name: float(x) for name, x in re.findall(r'<a href="#(run-[A-Z]-\d+)">.*?<use [^>]* x="([\d.]+)"', html, re.S)
    }
    for name in places.keys() ^ drawn.keys():
        yield f"{name} {'has no position' if name in drawn else 'is not drawn'}"
    ends = sorted((place, drawn[name]) for name, place in places.items() if name in drawn)
    if not ends or ends[0][0] == ends[-1][0]:
        return
    (first, left), (last, right) = ends[0], ends[-1]
    for name in places.keys() & drawn.keys():
        x = left + (places[name] - first) / (last - first) * (right - left)
        if abs(x - drawn[name]) > 0.01:
            yield f"{name} is drawn at {drawn[name]} instead of {x:.3f}"


def _table(title: str, wanted: Mapping[tuple[str, ...], Cells], found: Table) -> Iterator[str]:
    keys = len(next(iter(wanted), ()))
    header = [name.lower() for name in found.header[keys:]]
    rows = {_key(row[:keys]): dict(zip(header, row[keys:], strict=True)) for row in found.rows}
    if len(rows) != len(found.rows):
        yield f"{title}: rows are repeated"
    for key in rows.keys() ^ wanted.keys():
        yield f"{title}: {' '.join(key)} is {'not computed' if key in rows else 'missing'}"
    for key in rows.keys() & wanted.keys():
        for name in rows[key].keys() ^ wanted[key].keys():
            if wanted[key].get(name) is not WORDS:
                yield f"{title}: {name} is {'not computed' if name in rows[key] else 'missing'}"
        for name in rows[key].keys() & wanted[key].keys():
            if not _says(rows[key][name], wanted[key][name]):
                yield f"{title}: {' '.join(key)}: {name} is {rows[key][name]!r} instead of {wanted[key][name]}"


def _key(cells: list[str]) -> tuple[str, ...]:
    return (cells[0], "", *cells[2:]) if cells[0].startswith("→") else tuple(cells)


def _says(text: str, wanted: Any) -> bool:
    """Does a cell say so, as far as its digits go?"""
    if wanted is WORDS:
        return True
    if wanted is None:
        return text == "-"
    if isinstance(wanted, str):
        return text == wanted
    if isinstance(wanted, dict):
        mean, _, error = text.partition(" ± ")
        return _says(mean, wanted["mean"]) and (_says(error, wanted["sem"]) if error else wanted["sem"] is None)
    if isinstance(wanted, list):
        ends = text.split(" to ")
        return len(ends) == len(wanted) and all(map(_says, ends, wanted))
    try:
        return abs(float(text.replace(",", "")) - wanted) <= _half(text) * (1 + 1e-6)
    except ValueError:
        return False


def _half(text: str) -> float:
    """Half of the last digit of a number."""
    try:
        exponent = Decimal(text.replace(",", "")).as_tuple().exponent
    except InvalidOperation:
        return 0.0
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
