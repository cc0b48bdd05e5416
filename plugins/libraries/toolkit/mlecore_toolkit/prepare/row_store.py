"""Picks rows of a table in any order, without having the whole table in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore_toolkit.fast_csv.reading import common_types, joined

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_AT_ONCE = 256 << 20  # bytes of rows in memory, at most
_FILES = 4  # spill files per so many bytes; each needs three times its size in memory
_ROWS = 50_000  # rows picked together


class RowStore:
    """The rows of a table given in pieces. Beyond 256 MB they are kept in files below the folder ``scratch``.

    A context manager, which removes the files. Columns get the common types of all pieces, as in pandas.
    """

    def __init__(self, pieces: Iterable[pl.DataFrame], scratch: Path) -> None:
        self.types: dict[str, pl.DataType] = {}  # of the columns
        self._folder = tempfile.TemporaryDirectory(dir=scratch, prefix="rows-")
        self._starts: list[int] = []  # the first row of each file
        self._count = self._stored = self._bytes = waiting = 0
        self._last: list[pl.DataFrame] = []  # pieces that are in no file
        for piece in pieces:
            self.types = common_types([self.types, piece.schema])
            if waiting > (_AT_ONCE // _FILES if self._starts else _AT_ONCE):
                self._store()
                waiting = 0
            self._last.append(piece)
            self._count += len(piece)
            waiting += int(piece.estimated_size())
            self._bytes += int(piece.estimated_size())
        if self._starts:
            self._store()
        else:
            self._last = [self._whole(self._last)]

    def __enter__(self) -> RowStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def __len__(self) -> int:
        return self._count

    def take(self, positions: NDArray[np.signedinteger[Any]]) -> pl.DataFrame:
        """The rows at these distinct positions, in this order, in memory. Raises DataError as ``pieces`` does."""
        return joined(list(self.pieces(positions)))

    def pieces(self, positions: NDArray[np.signedinteger[Any]]) -> Iterator[pl.DataFrame]:
        """The same rows in pieces, at least one.

        Reads and writes only sequentially, through one file per spill file and piece. Raises DataError if the table has
        fewer rows.
        """
        if len(positions) and int(positions.max()) >= len(self):
            raise DataError(f"the table has {len(self):,} rows, expected {int(positions.max()) + 1:,} or more")
        if not self._starts:
            for start in range(0, len(positions) or 1, _ROWS):
                yield self._last[0][positions[start : start + _ROWS]]
            return
        rows = 1 + len(self) * _AT_ONCE // (_FILES * self._bytes)  # rows of a piece
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            self._deal(positions, rows, Path(folder))
            for start in range(0, len(positions) or 1, rows):
                yield self._picked(positions[start : start + rows], Path(folder, str(start // rows)))

    def _deal(self, positions: NDArray[np.signedinteger[Any]], rows: int, folder: Path) -> None:
        """Distribute the rows of each spill file, in the order of ``positions``, to one file per piece."""
        import numpy as np

        place = np.full(len(self), -1, dtype=positions.dtype)  # of each row in ``positions``; -1: not picked
        place[positions] = np.arange(len(positions), dtype=positions.dtype)
        for number, start in enumerate(self._starts):
            table = _load(Path(self._folder.name, str(number)))
            where = place[start : start + len(table)]
            kept = np.flatnonzero(where >= 0)
            kept = kept[np.argsort(where[kept])]
            pieces, firsts = np.unique(where[kept] // rows, return_index=True)
            for piece, part in zip(pieces.tolist(), np.split(kept, firsts[1:]), strict=False):
                _save(table[part], folder / str(piece) / str(number))

    def _picked(self, positions: NDArray[np.signedinteger[Any]], folder: Path) -> pl.DataFrame:
        """The rows of a piece, in the order of ``positions``."""
        import numpy as np

        numbers = np.searchsorted(self._starts, positions, side="right") - 1  # of their spill files
        table = self._whole([_load(folder / str(number)) for number in np.unique(numbers)])
        return table[np.argsort(np.argsort(numbers, kind="stable"))]

    def _whole(self, tables: list[pl.DataFrame]) -> pl.DataFrame:
        """The tables as one, with the types of the whole table. Empties the list."""
        import polars as pl

        tables.insert(0, pl.DataFrame(schema=self.types))
        return joined(tables)

    def _store(self) -> None:
        """Write the rows in memory to further files."""
        while self._last:
            some, size = [], 0
            while self._last and size <= _AT_ONCE // _FILES:
                some.append(self._last.pop(0))
                size += int(some[-1].estimated_size())
            table = joined(some)
            _save(table, Path(self._folder.name, str(len(self._starts))))
            self._starts.append(self._stored)
            self._stored += len(table)


def _save(table: pl.DataFrame, path: Path) -> None:
    import polars as pl

    path.parent.mkdir(exist_ok=True)
    # newer levels would write all text of the original table
    table.write_ipc(path, compat_level=pl.CompatLevel.oldest())


def _load(path: Path) -> pl.DataFrame:
    import polars as pl

    with path.open("rb") as file:  # a path would be mapped into memory
        return pl.read_ipc(file)
