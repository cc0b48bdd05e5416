"""Rule: check and grade both refuse what [submission] rules out."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore_audit.mutants.columns import some
from mlecore_audit.mutants.grid import Grid
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken
from mlecore_toolkit.submissions.format import Column

Defect = tuple[str, bytes]
_UNKNOWN = "no-such-id"


def defects(harness: Harness) -> Iterator[Broken]:
    for what, data in _listed(harness):
        for hook, outcome in (("check", harness.check(data)), ("grade", harness.grade(data))):
            if outcome.accepted:
                yield Broken(f"{hook} accepts it, though [submission] rules it out", what)


def _listed(harness: Harness) -> Iterator[Defect]:
    grid, format = harness.grid, harness.format
    yield "a blank file", b""
    if format.id_required and format.id:
        yield f"the column {format.id} is missing", _without(grid, format.id)
    for place in some(len(harness.targets)):
        yield f"the column {harness.targets[place]} is missing", _without(grid, harness.targets[place])
    if format.extra == "refused":
        yield "an extra column", grid.adding("one_too_many", ["0"] * len(grid.rows)).render()
    yield from _rows(harness)
    rules = format.expand(list(grid.header))
    for place in some(len(harness.targets)):
        name = harness.targets[place]
        for what, cell in _cells(rules[name]):
            yield f"{what} in the column {name}", grid.with_cell(0, name, cell).render()
        if rules[name].type in ("text", "mask", "records"):
            yield f"only numbers in the column {name}", grid.with_column(name, ["7"] * len(grid.rows)).render()
    if format.sum_to_one is not None:
        first = next(name for name in harness.targets if rules[name].type == "number")
        cell = repr(abs(float(grid.column(first)[0]) - 0.5))
        yield "a row that does not add up to 1", grid.with_cell(0, first, cell).render()


def _rows(harness: Harness) -> Iterator[Defect]:
    grid, format = harness.grid, harness.format
    rows = list(grid.rows)
    if format.rows == "same" or format.ids == "set":
        yield "no rows", grid.with_rows([]).render()
    if format.rows == "same":
        yield "a row is missing", grid.with_rows(rows[:-1]).render()
        yield "a row is repeated", grid.with_rows([*rows, rows[0]]).render()
    if format.id is None or format.id not in grid.header or format.ids == "any":
        return
    if format.ids in ("list", "set"):
        gone = grid.column(format.id)[0]
        yield (
            f"no row of {gone}",
            grid.with_rows(row for row, id in zip(rows, grid.column(format.id), strict=True) if id != gone).render(),
        )
    yield "an unknown id", grid.with_cell(0, format.id, _UNKNOWN).render()
    more = grid.with_rows([*rows, rows[0]]).with_cell(len(rows), format.id, _UNKNOWN)
    yield "an extra row with an unknown id", more.render()
    if format.ids == "list" and len(set(grid.column(format.id))) > 1:
        other = next(id for id in grid.column(format.id) if id != grid.column(format.id)[0])
        yield "a repeated id", grid.with_cell(0, format.id, other).render()


def _cells(rule: Column) -> Iterator[tuple[str, str]]:
    if rule.type not in ("text", "any"):
        yield "text", "seven"
    if rule.type == "any":
        return
    if not rule.missing:
        yield "a missing cell", ""
    if rule.type == "number" and not rule.infinite:
        yield "infinity", "inf"
        yield "minus infinity", "-inf"
    if rule.low > float("-inf"):
        yield from ((f"{cell}, below {rule.low},", cell) for cell in (repr(rule.low - 0.5), f"{rule.low - 1:.0f}"))
    if rule.high < float("inf"):
        yield from ((f"{cell}, above {rule.high},", cell) for cell in (repr(rule.high + 0.5), f"{rule.high + 1:.0f}"))
    if rule.type == "label":
        yield "a fraction", "0.5"
    if rule.type == "integer":
        yield "a number of more than 64 bits", "9223372036854775808"
    if rule.type == "mask":
        yield "a run of no pixel", "1 0"
        yield "runs that descend", "9 1 2 1"
        yield "runs that overlap", "1 3 3 1"
        yield "five numbers", "1 1 3 1 5"
        yield "a fraction", "1.5 2"
    if rule.type == "records":
        yield "a word too many", " ".join(["1"] * (len(rule.record) + 1))
        numbers = [place for place, kind in enumerate(rule.record) if kind != "text"]
        for place in numbers:
            words = ["1"] * len(rule.record)
            words[place] = "x"
            yield f"no number in place {place + 1} of a record", " ".join(words)
        if rule.single:
            yield "two blanks between words", " ".join(["1", "", *["1"] * (len(rule.record) - 1)])
        if not rule.blank:
            yield "only blanks", " "


def _without(grid: Grid, name: str) -> bytes:
    return grid.with_columns([place for place, column in enumerate(grid.header) if column != name]).render()
