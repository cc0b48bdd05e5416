"""Cells that hold a list, decoded many at once; one by one only those that are long or not as they mostly are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlecore.submissions.messages import in_file_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

SHORT = 1 << 16  # characters of a cell that is decoded with others


def decode(
    frame: DataFrame,
    cells: Sequence[str],
    together: Callable[[list[str], NDArray[np.intp]], tuple[NDArray[np.intp], Any] | None],
    alone: Callable[[int], Any],
    join: Callable[[list[Any]], Any],
    *,
    characters: int,
    few: int,
) -> Lists:
    """The list in each row's cell; an empty cell has no items.

    ``together`` takes cells, which are not empty and have some ``characters`` in all, and their places; it returns how
    many items each has, and all of them, or None if there is a cell that it does not take. Half as many are tried then,
    and so on; a ``few`` go to ``alone`` one by one, in the order of the file, so that the first wrong one is refused.
    ``join`` makes one array of the items of all.
    """
    import numpy as np

    from mlecore.submissions.lists import lists_of

    sizes = np.fromiter(map(len, cells), np.int64, len(cells))
    empty, odd = np.flatnonzero(sizes == 0), np.flatnonzero(sizes > SHORT).tolist()
    parts = [(empty, np.zeros(len(empty), dtype=np.intp), join([]))]
    waiting = _batches(np.where(sizes > SHORT, 0, sizes), characters)[::-1]
    while waiting:
        some = waiting.pop()
        found = together([cells[place] for place in some.tolist()], some) if len(some) else None
        if found is not None:
            parts.append((some, *found))
        elif len(some) > few:
            waiting += some[len(some) // 2 :], some[: len(some) // 2]
        else:
            odd += some.tolist()
    for place in in_file_order(frame, sorted(odd)):
        items = alone(place)
        parts.append((np.array([place]), np.array([len(items)]), items))
    return lists_of(parts, join)


def _batches(sizes: NDArray[np.int64], most: int) -> list[NDArray[np.intp]]:
    """Places of the cells that have characters, ascending, in parts of about ``most`` characters together."""
    import numpy as np

    places = np.flatnonzero(sizes)
    part = np.cumsum(sizes[places]) // most
    return np.split(places, np.flatnonzero(np.diff(part)) + 1)
