"""Pairing what is predicted with what is true, group by group (a picture, or a label in it), for all groups at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_ONCE = 100_000  # pairs


def pairs(groups: NDArray[np.intp], others: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """All places (i, j) with ``groups[i] == others[j]``, by i, then by j: parts of them, a part with all pairs of an i.

    A part has some 100,000 pairs, or those of one i.
    """
    order = np.argsort(others, kind="stable")
    first, last = (np.searchsorted(others, groups, side=side, sorter=order) for side in ("left", "right"))
    counts = last - first
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(groups):
        stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] - counts[begin] + _AT_ONCE, side="right")))
        here = counts[begin:stop]
        i = np.repeat(np.arange(begin, stop), here)
        yield i, order[np.arange(len(i)) + np.repeat(first[begin:stop] - np.cumsum(here) + here, here)]
        begin = stop


def taken(i: NDArray[np.intp], j: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of these pairs come about if each in turn does unless its ``i`` or ``j`` is in an earlier one that did."""
    free: NDArray[np.bool_] = (np.bincount(i)[i] == 1) & (np.bincount(j)[j] == 1)
    contested = np.flatnonzero(~free)
    used_i: set[int] = set()
    used_j: set[int] = set()
    for place, a, b in zip(contested.tolist(), i[contested].tolist(), j[contested].tolist(), strict=True):
        if a not in used_i and b not in used_j:
            used_i.add(a)
            used_j.add(b)
            free[place] = True
    return free
