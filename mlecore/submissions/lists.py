"""A column whose cells are lists, such as masks or boxes, which lie one behind the other in one array."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.indexers import check_array_indexer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Part = tuple[NDArray[np.intp], NDArray[np.intp], Any]


class ListsDtype(ExtensionDtype):  # type: ignore[misc]
    """That of ``Lists``."""

    name = "lists"
    type = object

    @classmethod
    def construct_array_type(cls) -> Any:
        return Lists


class Lists(ExtensionArray):  # type: ignore[misc]
    """Cell ``i`` is ``items[starts[i]:ends[i]]``; ``items`` is an array, or Records.

    As a column of a table it is taken, sliced and iterated over like one of lists, at the cost of two numbers a cell.
    """

    def __init__(self, items: Any, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> None:
        self._items, self._starts, self._ends = items, starts, ends

    @property
    def dtype(self) -> ListsDtype:
        return ListsDtype()

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        if isinstance(item, (int, np.integer)):
            return self._items[self._starts[item] : self._ends[item]]
        return Lists(self._items, self._starts[item], self._ends[item])

    def __iter__(self) -> Iterator[Any]:
        return (self._items[a:b] for a, b in zip(self._starts.tolist(), self._ends.tolist(), strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        cells = np.empty(len(self), dtype=object)
        for place, cell in enumerate(self):
            cells[place] = cell
        return cells

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Lists:
        """As pandas asks for it; no cell may be filled."""
        places = np.asarray(indices, dtype=np.intp)
        if allow_fill and (places < 0).any():
            raise ValueError("a list cannot be missing")
        return Lists(self._items, self._starts[places], self._ends[places])

    def copy(self) -> Lists:
        return Lists(self._items, self._starts, self._ends)

    def isna(self) -> NDArray[np.bool_]:
        return np.zeros(len(self), dtype=bool)

    @property
    def nbytes(self) -> int:
        return self._starts.nbytes + self._ends.nbytes

    def counts(self) -> NDArray[np.intp]:
        """The number of items of each cell."""
        return self._ends - self._starts

    def joined(self) -> Any:
        """The items of all cells, one cell behind the other."""
        ends = np.cumsum(self.counts())
        if not len(self) or not ends[-1]:
            return self._items[:0]
        first = self._starts[0]
        if (self._ends - first == ends).all():  # mostly they are
            return self._items[first : first + ends[-1]]
        return self._items[np.arange(ends[-1]) + np.repeat(self._starts - ends + self.counts(), self.counts())]


def lists_of(parts: Sequence[Part], join: Callable[[list[Any]], Any]) -> Lists:
    """From (places of cells, how many items each has, these items); ``join`` makes one array of those of all parts."""
    count = sum(len(places) for places, _, _ in parts)
    starts, ends, done = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp), 0
    for places, counts, _ in parts:
        last = done + np.cumsum(counts)
        starts[places], ends[places] = last - counts, last
        done = int(last[-1]) if len(last) else done
    none = starts == ends  # lie behind the cell before, so that cells in their order are adjacent
    starts[none] = ends[none] = np.maximum.accumulate(np.where(none, 0, ends))[none]
    items = [items for _, _, items in parts if len(items)]
    return Lists(items[0] if len(items) == 1 else join(items), starts, ends)
