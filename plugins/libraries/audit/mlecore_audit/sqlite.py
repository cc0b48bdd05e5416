"""SQLite databases as tables, read in memory: nothing of them is run but a SELECT of each table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

START = b"SQLite format 3\0"
_LONGEST = 1 << 20  # bytes of a cell
_FORMATS = slice(18, 20)  # bytes of the header: 2 is a write-ahead log, which a database in memory cannot have


def tables_of(data: bytes, rows: int) -> Iterator[tuple[str, Iterator[DataFrame]]]:
    """Each table with ``#`` and its name, and batches of so many rows. Raises sqlite3.Error for a damaged database."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data[: _FORMATS.start] + b"\1\1" + data[_FORMATS.stop :])
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        database.execute("PRAGMA trusted_schema = OFF")
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        plain = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        for (name,) in database.execute(plain).fetchall():
            yield f"#{name}", _batches(database, name.replace('"', '""'), rows)


def _batches(database: sqlite3.Connection, name: str, rows: int) -> Iterator[DataFrame]:
    import pandas as pd

    selected = database.execute(f'SELECT * FROM "{name}"')
    columns = [column[0] for column in selected.description]
    while batch := selected.fetchmany(rows):
        yield pd.DataFrame([["" if v is None else str(v) for v in row] for row in batch], columns=columns)
