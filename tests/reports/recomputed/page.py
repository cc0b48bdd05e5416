"""The figures in the tables of a report's page, against those computed here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from recomputed.rows import WORDS, Cells, table_rows
from recomputed.tables import Table, tables

NO_FIGURES = ("Conditions", "Conditions that differ within a setup")


def page_differences(expected: Mapping[str, Any], html: str) -> Iterator[str]:
    """What a table of the page says otherwise; and each table, row and column that nothing was computed for."""
    wanted = dict(table_rows(expected))
    found = {each.title: each for each in tables(html)}
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


def _sentences(expected: Mapping[str, Any]) -> Iterator[str]:
    for setup in expected["setups"]:
        beaten = [row["beats_sample"] for row in setup["runs"].rows.values()]
        if any(each is not None for each in beaten) and not all(beaten):
            yield f"{beaten.count(True)} of {len(beaten)} run{'s' * (len(beaten) > 1)} beat the sample submission"
        if setup["position"] is not None:
            yield f"mean position over {setup['position_competitions']} competition"
            yield f"between the sample submission (0) and gold (1): {setup['position']:.2f}"
    for found in expected["comparisons"]:
        row = found["differences"][0]
        wins = [pair["a_wins"] for pair in found["pairs"].rows.values()]
        more, less = sum(chance > 0.5 for chance in wins), sum(chance < 0.5 for chance in wins)
        if row["difference"] > 0:
            yield f"on {more or 'none'} of {len(wins)} competitions and worse on {less or 'none'}; the difference in"
        elif row["difference"] < 0:
            yield f"on {less or 'none'} of {len(wins)} competitions and worse on {more or 'none'}; the difference in"
        if row["difference"]:
            yield f" is {abs(row['difference']):+.1f} points (95 % interval "


def _dots(expected: Mapping[str, Any], html: str) -> Iterator[str]:
    """Each score must be drawn where it lies between the thresholds next to it, on one scale for all competitions."""
    scores: dict[str, list[float]] = {}
    for setup in expected["setups"]:
        for (competition, _), row in setup["runs"].rows.items():
            scores.setdefault(competition, []).extend([] if row["score"] is None else [row["score"]])
    places = {
        (competition, f"{key}, seed {seed}: {row['score']:.5f}"): _place(row, scores[competition])
        for key, setup in zip("ABCDEFGH", expected["setups"], strict=False)
        for (competition, seed), row in setup["runs"].rows.items()
        if row["score"] is not None and _place(row, scores[competition]) is not None
    }
    drawn = {
        (competition, words): float(x)
        for competition, cells in re.findall(
            r'<tr><th scope="row">([^<]*)</th>((?:(?!</tr>).)*class="strip".*?)</tr>', html
        )
        for x, words in re.findall(r'<circle [^>]*cx="([\d.]+)"[^>]*><title>([^<]*)</title>', cells)
    }
    for name in places.keys() ^ drawn.keys():
        yield f"{name} {'lies nowhere' if name in drawn else 'is not drawn'}"
    ends = sorted((place or 0.0, drawn[name]) for name, place in places.items() if name in drawn)
    if not ends or ends[0][0] == ends[-1][0]:
        return
    (first, left), (last, right) = ends[0], ends[-1]
    for name in places.keys() & drawn.keys():
        x = left + ((places[name] or 0.0) - first) / (last - first) * (right - left)
        if abs(x - drawn[name]) > 0.11:
            yield f"{name} is drawn at {drawn[name]} instead of {x:.3f}"


def _place(row: Mapping[str, Any], scores: Sequence[float]) -> float | None:
    """0 at the sample, 1 at the median, then bronze, silver and gold; without medals 5 at the best run."""
    sample, gold, score = row["sample_score"], row["gold_threshold"], row["score"]
    if gold is None:
        lower = row["lower_is_better"]
        steps = [(0.0, sample), (5.0, min(scores) if lower else max(scores))]
        if (steps[1][1] - sample) * (-1 if lower else 1) <= 0:
            return None
    else:
        thresholds = (row[f"{name}_threshold"] for name in ("median", "bronze", "silver", "gold"))
        steps = [(0.0, sample), *((float(number), value) for number, value in enumerate(thresholds, start=1))]
        lower = gold < sample
    sign = -1.0 if lower else 1.0
    (first, worst), (last, best) = steps[0], steps[-1]
    if sign * score < sign * worst:
        return first - 0.5
    if sign * score > sign * best:
        return last + 0.5
    return float(np.interp(sign * score, [sign * value for _, value in steps], [place for place, _ in steps]))


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
            if name in rows[key] or wanted[key][name] not in (WORDS, None):  # a column without a value is left out
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
