"""Mutations of the rows: missing, added, repeated, in another order, of other ids."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from mlecore_audit.mutants.cells import number_forms
from mlecore_audit.mutants.grid import Edit, Grid, Row, of_cell, of_column, of_rows

_OTHER_IDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("is unknown", lambda cell: "unknown-id"),
    ("is an unknown number", lambda cell: "987654321"),
    ("is -1", lambda cell: "-1"),
    ("is empty", lambda cell: ""),
    ("is NaN", lambda cell: "NaN"),
    ("is True", lambda cell: "True"),
    ("is too large for 64 bits", lambda cell: "99999999999999999999"),
    ("is infinite", lambda cell: "1e400"),
    ("has a blank before it", " {}".format),
    ("has a blank after it", "{} ".format),
    ("is in another case", str.swapcase),
    ("has a zero before it", "0{}".format),
    ("has .0 after it", "{}.0".format),
)


def rows(grid: Grid, ids: Sequence[str], dice: random.Random) -> Iterator[Edit]:
    """The same columns over other rows; ``ids`` are the columns that name a row."""
    size, seed = len(grid.rows), dice.random()
    yield of_rows("rows reversed", lambda rows: rows[::-1])
    yield of_rows("rows sorted", sorted)
    yield of_rows("rows shuffled", lambda rows: random.Random(seed).sample(rows, len(rows)))
    if size < 2:
        return
    place, other = dice.sample(range(size), 2)
    yield of_rows("first row missing", lambda rows: rows[1:])
    yield of_rows("last row missing", lambda rows: rows[:-1])
    yield of_rows(f"row {place} missing", lambda rows: rows[:place] + rows[place + 1 :])
    yield of_rows("half the rows", lambda rows: rows[: len(rows) // 2])
    yield of_rows("one row", lambda rows: rows[:1])
    yield of_rows(f"row {place} repeated at the end", lambda rows: [*rows, rows[place]])
    yield of_rows(f"row {place} in place of row {other}", lambda rows: _replaced(rows, other, rows[place]))
    yield of_rows("every row twice", lambda rows: [row for row in rows for _ in range(2)])
    yield of_rows("all rows again", lambda rows: rows + rows)
    yield of_rows("first row swapped with the last", lambda rows: [rows[-1], *rows[1:-1], rows[0]])
    for name in ids:
        if name in grid.header:
            yield from _of_ids(grid, name, place)


def _of_ids(grid: Grid, name: str, place: int) -> Iterator[Edit]:
    at = grid.header.index(name)
    yield of_rows(f"an extra row with an unknown {name}", lambda rows: [*rows, _with(rows[place], at, "unknown-id")])
    yield of_rows(f"an extra row with an empty {name}", lambda rows: [*rows, _with(rows[place], at, "")])
    for how, change in _OTHER_IDS:
        yield of_cell(name, place, how, change)
    for how, form in number_forms(grid.column(name)):
        yield of_column(name, how, form)
    yield of_column(name, "moved up by one row", lambda cells: [*cells[1:], cells[0]])
    yield of_column(name, "empty", lambda cells: [""] * len(cells))
    yield of_column(name, "in another case", lambda cells: [cell.swapcase() for cell in cells])


def _with(row: Row, at: int, cell: str) -> Row:
    return (*row[:at], cell, *row[at + 1 :])


def _replaced(rows: list[Row], at: int, row: Row) -> list[Row]:
    return [*rows[:at], row, *rows[at + 1 :]]
