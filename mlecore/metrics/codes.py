"""Labels as small whole numbers: their places among all that occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDE = 1 << 16  # a range of whole numbers that may be counted whatever the number of rows


def coded(*sides: NDArray[Any]) -> tuple[NDArray[np.intp], ...]:
    """The place of each value in the sorted list of those that occur on any side.

    As ``numpy.unique`` of all, but in a tenth of the time where they are whole numbers close to each other.
    """
    rows = sum(map(len, sides))
    if rows and all(side.dtype == np.int64 and side.ndim == 1 and len(side) for side in sides):
        low, high = min(int(side.min()) for side in sides), max(int(side.max()) for side in sides)
        if high - low <= rows + _WIDE:
            present = np.zeros(high - low + 1, dtype=bool)
            for side in sides:
                present[side - low] = True
            places = np.cumsum(present) - 1
            return tuple(places[side - low] for side in sides)
    _, codes = np.unique(np.concatenate(sides), return_inverse=True)
    return tuple(np.split(codes, np.cumsum([len(side) for side in sides])[:-1]))
