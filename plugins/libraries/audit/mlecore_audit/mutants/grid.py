"""A submission as a grid of text cells, and what can be done to it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

Row = tuple[str, ...]


@frozen
class Grid:
    """Header and rows of a CSV file, every cell as text."""

    header: Row
    rows: tuple[Row, ...]

    @classmethod
    def parse(cls, data: bytes) -> Grid:
        csv.field_size_limit(2**31 - 1)
        header, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
        return cls(tuple(header), tuple(map(tuple, rows)))

    def render(self, quoting: int = csv.QUOTE_MINIMAL) -> bytes:
        """The bytes of the file, as pandas would write them."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return out.getvalue().encode("utf-8")

    def column(self, name: str) -> list[str]:
        index = self.header.index(name)
        return [row[index] for row in self.rows]

    def with_rows(self, rows: Iterable[Row]) -> Grid:
        return Grid(self.header, tuple(rows))

    def with_columns(self, order: Sequence[int]) -> Grid:
        """Only the columns at these places, in this order."""
        return Grid(*_pick(self.header, self.rows, order))

    def with_column(self, name: str, cells: Iterable[str]) -> Grid:
        """Other cells in one column."""
        index = self.header.index(name)
        rows = ((*row[:index], cell, *row[index + 1 :]) for row, cell in zip(self.rows, cells, strict=True))
        return self.with_rows(rows)

    def with_cell(self, row: int, name: str, cell: str) -> Grid:
        """Another text in one cell; other rows stay the same objects, so that this is cheap."""
        index = self.header.index(name)
        old = self.rows[row]
        return self.with_rows((*self.rows[:row], (*old[:index], cell, *old[index + 1 :]), *self.rows[row + 1 :]))

    def adding(self, name: str, cells: Iterable[str], first: bool = False) -> Grid:
        """One more column, at the end or before all others."""
        if first:
            rows = ((cell, *row) for row, cell in zip(self.rows, cells, strict=True))
            return Grid((name, *self.header), tuple(rows))
        rows = ((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
        return Grid((*self.header, name), tuple(rows))


@frozen
class Edit:
    """A change with its name. It is applied when used, so that hundreds of them cost little."""

    name: str
    apply: Callable[[Grid], Grid]


def of_rows(name: str, change: Callable[[list[Row]], Iterable[Row]]) -> Edit:
    """An edit of the rows."""
    return Edit(name, lambda grid: grid.with_rows(change(list(grid.rows))))


def of_column(column: str, how: str, change: Callable[[list[str]], Iterable[str]]) -> Edit:
    """An edit of the cells of one column."""
    return Edit(f"all of {column} {how}", lambda grid: grid.with_column(column, change(grid.column(column))))


def of_cell(column: str, row: int, how: str, change: Callable[[str], str]) -> Edit:
    """An edit of one cell."""
    return Edit(
        f"{column} of row {row} {how}", lambda grid: grid.with_cell(row, column, change(grid.column(column)[row]))
    )


def _pick(header: Row, rows: Sequence[Row], order: Sequence[int]) -> tuple[Row, tuple[Row, ...]]:
    return tuple(header[i] for i in order), tuple(tuple(row[i] for i in order) for row in rows)
