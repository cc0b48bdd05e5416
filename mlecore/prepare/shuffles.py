"""Reorders the rows of a table that is too large for memory."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


def rows_in_order(
    pieces: Iterable[DataFrame], order: NDArray[np.intp], scratch: Path, *, rows: int = 100_000
) -> Iterator[DataFrame]:
    """The rows at the positions ``order`` of a table given in ``pieces``; yields ``rows`` at a time.

    Positions are distinct; some may be left out. Rows wait in temporary files below the folder ``scratch``, one
    for each piece of the result, so that files are written and read sequentially, and memory holds one piece. Raises
    DataError if the table has fewer rows.
    """
    import numpy as np

    place = np.full(int(order.max(initial=-1)) + 1, -1)  # of each row in the result; -1: not wanted
    place[order] = np.arange(len(order))
    with tempfile.TemporaryDirectory(dir=scratch, prefix="rows-") as folder, ExitStack() as open_files:
        files = [
            open_files.enter_context(Path(folder, str(number)).open("w+b")) for number in range(-(-len(order) // rows))
        ]
        start = 0
        for piece in pieces:
            where = place[start : start + len(piece)]
            start += len(piece)
            kept = np.flatnonzero(where >= 0)
            kept = kept[np.argsort(where[kept] // rows, kind="stable")]
            numbers, firsts = np.unique(where[kept] // rows, return_index=True)
            for number, part in zip(numbers, np.split(kept, firsts[1:]), strict=False):
                pickle.dump((where[part], piece.iloc[part]), files[number], pickle.HIGHEST_PROTOCOL)
        if start < len(place):
            raise DataError(f"the table has {start:,} rows, expected {len(place):,} or more")
        for file in files:
            yield _sorted(file)


def _sorted(file: IO[bytes]) -> DataFrame:
    """The parts that wait in a file, as one table in order."""
    import numpy as np
    import pandas as pd

    parts: list[Any] = []
    file.seek(0)
    while file.peek(1):  # type: ignore[attr-defined]
        parts.append(pickle.load(file))
    order = np.argsort(np.concatenate([where for where, _ in parts]))
    return pd.concat([part for _, part in parts]).iloc[order]
