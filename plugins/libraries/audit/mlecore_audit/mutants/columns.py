"""Mutations of the columns: dropped, renamed, moved, added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mlecore_audit.mutants.grid import Edit, Grid

_MANY = 6  # up to so many columns each is mutated, of more only some

_NAMES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("in another case", str.swapcase),
    ("after a blank", " {}".format),
    ("before a blank", "{} ".format),
    ("in single quotes", "'{}'".format),
    ("as nothing", lambda name: ""),
)

_EXTRA: tuple[tuple[str, Callable[[int], str]], ...] = (
    ("row numbers", str),
    ("zeros", lambda row: "0"),
    ("ones", lambda row: "1"),
    ("words", lambda row: "word"),
    ("nothing", lambda row: ""),
    ("booleans", lambda row: "True"),
)


def columns(grid: Grid) -> Iterator[Edit]:
    """The same rows with other columns."""
    count = len(grid.header)
    yield Edit("columns reversed", lambda grid: grid.with_columns(range(len(grid.header))[::-1]))
    yield Edit("columns rotated", lambda grid: grid.with_columns([*range(1, len(grid.header)), 0]))
    for index in some(count):
        name = grid.header[index]
        yield _kept(f"column {name} dropped", [place for place in range(count) if place != index])
        yield _kept(f"only the column {name}", [index])
        yield _kept(f"column {name} twice", [*range(count), index])
        for how, new in _NAMES:
            yield _renamed(f"column {name} {how}", (*grid.header[:index], new(name), *grid.header[index + 1 :]))
    yield _renamed("all columns renamed", tuple(f"c{i}" for i in range(count)))
    yield _added("an index column first", "", str, first=True)
    yield _added("an index column called index", "index", str, first=True)
    yield Edit(
        "an index column without a header",
        lambda grid: Grid(grid.header, tuple((str(i), *row) for i, row in enumerate(grid.rows))),
    )
    for what, cell in _EXTRA:
        yield _added(f"an extra column of {what}", "extra", cell)
    yield _added("an extra column of words first", "extra", lambda row: "word", first=True)


def some(count: int) -> list[int]:
    """All places if they are few; else the first ones, a middle one, the last one."""
    if count <= _MANY:
        return list(range(count))
    return [*range(_MANY - 2), count // 2, count - 1]


def _kept(name: str, places: Sequence[int]) -> Edit:
    return Edit(name, lambda grid: grid.with_columns(places))


def _renamed(name: str, header: tuple[str, ...]) -> Edit:
    return Edit(name, lambda grid: Grid(header, grid.rows))


def _added(name: str, column: str, cell: Callable[[int], str], first: bool = False) -> Edit:
    return Edit(name, lambda grid: grid.adding(column, map(cell, range(len(grid.rows))), first))
