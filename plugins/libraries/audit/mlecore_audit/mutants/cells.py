"""Mutations of predictions: every type that a cell or a column can have."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence

from mlecore_audit.mutants.columns import some
from mlecore_audit.mutants.grid import Edit, Grid, of_cell, of_column

Change = Callable[[list[str]], list[str]]  # the cells of a column -> other cells

CELLS = (
    # empty, and the words that pandas reads as empty
    *("", " ", "NaN", "nan", "NA", "N/A", "null", "NULL", "None", "<NA>", "-nan", "#N/A"),
    # numbers, some at the borders of types, some beyond them
    *("0", "1", "2", "-1", "0.5", "-0.0", "1.5", "0.3", "+1", "007", "1.0", "1.00", "1e5", "1E-7", ".5", "5."),
    *("1.0000001", "0.99999", "-1e-9", "1e-320", "1e200", "-1e200", "1e308", "1e400", "-1e400"),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615"),
    *("18446744073709551616", "-9223372036854775808", "-9223372036854775809", "9" * 40),
    *("inf", "-inf", "Inf", "+inf", "Infinity", "-Infinity", "infinity"),
    # a number to one reader and not to another
    *("1_0", "0x10", "1,5", "1 000", "50%", "$1", "1/2", "１", "٣", "½", "1e", "1d5", "--1", "0b1", "1j", "(1)"),
    # truth
    *("True", "False", "TRUE", "true", "fALSE", "yes", "T"),
    # text
    *("abc", " 1", "1 ", "\t1", '"', "'1'", "é", "\ufeff1", "\u00a01", "a,b", "two\nlines", "0 1", "1 1 2 2", "5 -1"),
    *("1 1 1", "1 2 3 4 5", "a b c", "1:2", "6.0:7", "[0, 1]", "{}", "x" * 10000, "-", "?", "1 0.5 0 0 1 1"),
)


def single_cells(grid: Grid, targets: Sequence[str], dice: random.Random) -> Iterator[Edit]:
    """Another prediction for one row; ``targets`` are the columns that hold predictions."""
    if not grid.rows:
        return
    for index in some(len(targets)):
        for cell in CELLS:
            yield of_cell(targets[index], dice.randrange(len(grid.rows)), f"is {_shown(cell)}", _always(cell))


def whole_columns(grid: Grid, targets: Sequence[str], dice: random.Random) -> Iterator[Edit]:
    """Other predictions for all rows."""
    if not grid.rows:
        return
    for index in some(len(targets)):
        name = targets[index]
        for cell in CELLS:
            yield of_column(name, f"is {_shown(cell)}", _all(cell))
        for how, form in (*number_forms(grid.column(name)), *_orders(dice.random()), *_mixtures(dice.random())):
            yield of_column(name, how, form)
    yield Edit("all predictions are '0'", lambda grid: _zeros(grid, targets))


def words(grid: Grid, targets: Sequence[str], dice: random.Random) -> Iterator[Edit]:
    """Other words in one cell, of columns whose cells hold lists of them, such as boxes or run lengths."""
    for index in some(len(targets)):
        name = targets[index]
        lists = [row for row, cell in enumerate(grid.column(name)) if len(cell.split()) > 2]
        if lists:
            for how, change in _LISTS:
                yield of_cell(name, dice.choice(lists), how, change)


def _with_word(place: int, word: str) -> Callable[[str], str]:
    def changed(cell: str) -> str:
        words = cell.split(" ")
        words[min(place, len(words) - 1)] = word
        return " ".join(words)

    return changed


_LISTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    *(
        (f"word {i + 1} is {word!r}", _with_word(i, word))
        for i in range(6)
        for word in ("nan", "inf", "-1", "2.5", "x")
    ),
    ("lacks its last word", lambda cell: cell.rpartition(" ")[0]),
    ("is its first word", lambda cell: cell.partition(" ")[0]),
    ("holds its words twice", lambda cell: f"{cell} {cell}"),
    ("has its words reversed", lambda cell: " ".join(cell.split(" ")[::-1])),
    ("has two blanks between words", lambda cell: cell.replace(" ", "  ", 1)),
    ("has tabs between words", lambda cell: cell.replace(" ", "\t")),
    ("has commas between words", lambda cell: cell.replace(" ", ",")),
    ("has a blank in front", lambda cell: f" {cell}"),
    ("has a blank at its end", lambda cell: f"{cell} "),
)


def _shown(cell: str) -> str:
    return repr(cell if len(cell) < 50 else f"{cell[:10]}... ({len(cell)} characters)")


def number_forms(column: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """The same numbers in other forms, and similar ones; nothing for a column of text."""
    if not column or any(_number(cell) is None for cell in column):
        return
    for how, change in _FORMS:
        yield how, _each(lambda cell, change=change: change(_number(cell) or 0.0))  # type: ignore[misc]
    yield "in single quotes", _each("'{}'".format)
    yield "in full-width digits", _each(lambda cell: "".join(_WIDE.get(c, c) for c in cell))


_WIDE = {str(digit): chr(0xFF10 + digit) for digit in range(10)}

_FORMS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("as floats", repr),
    ("as whole numbers", lambda n: str(_whole(n))),
    ("rounded to one decimal", "{:.1f}".format),
    ("in scientific notation", "{:.17e}".format),
    ("with 20 decimals", "{:.20f}".format),
    ("with a plus sign", "{:+}".format),
    ("with leading zeros", lambda n: f"00{_whole(n)}"),
    ("as booleans", lambda n: str(n > 0.5)),
    ("one more", lambda n: repr(n + 1)),
    ("a millionth more", lambda n: repr(n + 1e-6)),
    ("a hundred thousandth less", lambda n: repr(n - 1e-5)),
    ("negative", lambda n: repr(-n)),
    ("ten times", lambda n: repr(10 * n)),
    ("1 minus the value", lambda n: repr(1 - n)),
)


def _orders(seed: float) -> Iterator[tuple[str, Change]]:
    yield "reversed", lambda cells: cells[::-1]
    yield "shuffled", lambda cells: random.Random(seed).sample(cells, len(cells))


def _mixtures(seed: float) -> Iterator[tuple[str, Change]]:
    """Columns with two types of cells."""
    for cell in ("", "0", "1", "0.25", "True", "abc", "inf"):
        yield f"is {cell!r} in every other row", _every_other(cell)
    yield "is 'True' or 'False'", _drawn(("True", "False"), seed)
    yield "is 'True', 'False' or empty", _drawn(("True", "False", ""), seed)
    yield "is 0 or 1", _drawn("01", seed)
    yield "is a random number from 0 to 1", _drawn([repr(i / 997) for i in range(998)], seed)


def _every_other(cell: str) -> Change:
    return lambda cells: [cell if i % 2 else old for i, old in enumerate(cells)]


def _drawn(choices: Sequence[str], seed: float) -> Change:
    return lambda cells: random.Random(seed).choices(choices, k=len(cells))


def _each(change: Callable[[str], str]) -> Change:
    return lambda cells: list(map(change, cells))


def _all(cell: str) -> Change:
    return lambda cells: [cell] * len(cells)


def _always(cell: str) -> Callable[[str], str]:
    return lambda old: cell


def _zeros(grid: Grid, targets: Sequence[str]) -> Grid:
    for name in targets:
        grid = grid.with_column(name, ["0"] * len(grid.rows))
    return grid


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _whole(number: float) -> int:
    return int(number) if math.isfinite(number) else 0
