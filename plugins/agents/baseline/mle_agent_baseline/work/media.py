"""Images and sounds as rows of numbers: finds the file of each row, reads within a time, in threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
from inventory import Source
from problem import NoModel

# The files of the train rows and of the test rows; None if a row has none.
Files = tuple[Sequence[Source | None], Sequence[Source | None]]
Reader = Callable[[bytes], np.ndarray]
BATCH = 64


class Index:
    """Files by name, with and without suffix."""

    def __init__(self, sources: list[Source]) -> None:
        self.known: dict[str, list[Source]] = {}
        for source in sources:
            for name in {source.name, source.stem}:
                self.known.setdefault(name, []).append(source)

    def find(self, name: str, role: str) -> Source | None:
        """The file of that name for ``role`` ("train" or "test"): in a folder called so rather than the other's."""
        other = "test" if role == "train" else "train"

        def unfit(source: Source) -> tuple[bool, bool, bool, str]:
            place = source.place.lower()
            return (other in place and role not in place, role not in place, source.member is not None, place)

        return min(self.known.get(name.rsplit("/", 1)[-1], []), key=unfit, default=None)

    def column(self, values: pd.Series, role: str) -> list[Source | None] | None:
        """The file of each row; None if not nearly every row has one."""
        some = values.astype(str).head(50)
        if not all(self.find(value, role) for value in some):
            return None
        found = [self.find(value, role) for value in values.astype(str)]
        return found if sum(source is not None for source in found) >= 0.98 * len(found) else None


def read(
    train: Sequence[Source | None], test: Sequence[Source | None], reader: Reader, seconds: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of test, rows of train, and which train rows these are: as many as fit into the time.

    Raises NoModel if the test files alone would take too long, or hardly any can be read.
    """
    began = time.monotonic()
    order = np.random.default_rng(seed).permutation(len(train))
    with ThreadPoolExecutor(threads()) as pool:
        first = _rows([train[place] for place in order[:BATCH]], reader, pool)
        if sum(row is not None for row in first) < 0.5 * len(first):
            raise NoModel("the images or sounds cannot be read")
        each = (time.monotonic() - began) / max(1, len(first))
        if each * len(test) > 0.7 * seconds:
            raise NoModel(f"reading {len(test)} files would take {each * len(test):.0f} s")
        asked = _rows(test, reader, pool)
        while len(first) < len(order) and time.monotonic() - began < seconds:
            first += _rows([train[place] for place in order[len(first) : len(first) + BATCH]], reader, pool)
    chosen = np.sort(order[: len(first)])
    by_place = dict(zip(order, first, strict=False))
    width = next(len(row) for row in first if row is not None)
    return _stack(asked, width), _stack([by_place[place] for place in chosen], width), chosen


def threads() -> int:
    return int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)


def _rows(sources: Sequence[Source | None], reader: Reader, pool: ThreadPoolExecutor) -> list[np.ndarray | None]:
    def one(source: Source | None) -> np.ndarray | None:
        if source is None:
            return None
        try:
            return reader(source.read())
        except Exception:  # whatever a broken file does to a decoder
            return None

    return list(pool.map(one, sources))


def _stack(rows: list[np.ndarray | None], width: int) -> np.ndarray:
    gap = np.full(width, np.nan, np.float32)
    return np.vstack([gap if row is None or len(row) != width else row for row in rows]).astype(np.float32)
