"""Pairs of 64-bit hashes that differ in few bits, without comparing each with each.

Two hashes that differ in at most r bits agree in one of r + 1 bands of their bits (the pigeonhole principle), so that
only hashes with an equal band are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

_AT_ONCE = 4_000_000  # comparisons, of some 40 bytes each
_BUCKET = 1_000  # hashes with one band that are compared; of more, a random choice
_BITS = 64

Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]


@frozen
class Near:
    """Pairs of rows of two arrays, each of shape (pairs,), sorted by ``row``, then by ``distance`` in bits."""

    row: Indices
    other: Indices
    distance: Indices


def near_pairs(hashes: Hashes, others: Hashes, radius: int, keep: int) -> Near:
    """For each of ``hashes`` (of shape (n,)) the ``keep`` nearest of ``others`` (shape (m,)) within ``radius`` bits.

    Memory is linear in n and m. Equal hashes of ``others`` count as one, the first.
    """
    distinct, first = np.unique(others, return_index=True)
    found = [_closest(*pairs, keep) for pairs in _candidates(hashes, distinct, radius)]
    if not found:
        empty = np.empty(0, np.int64)
        return Near(empty, empty, empty)
    rows, columns, distances = (np.concatenate(column) for column in zip(*found, strict=True))
    row, other, distance = _closest(rows, columns, distances, keep)
    return Near(row, first[other], distance)


def _candidates(hashes: Hashes, others: Hashes, radius: int) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Pairs within the radius, a piece at a time; a pair may come once per band."""
    edges = np.linspace(0, _BITS, radius + 2).astype(int)
    rng = np.random.default_rng(0)
    for low, high in pairwise(edges.tolist()):
        mask = np.uint64((1 << (high - low)) - 1)
        band, other_band = ((each >> np.uint64(low)) & mask for each in (hashes, others))
        order = rng.permutation(len(others))  # so that a cut bucket is a random choice
        order = order[np.argsort(other_band[order], kind="stable")]
        start = np.searchsorted(other_band[order], band, "left")
        count = np.minimum(np.searchsorted(other_band[order], band, "right") - start, _BUCKET)
        piece = np.cumsum(count) // _AT_ONCE
        for rows in np.split(np.arange(len(hashes)), np.flatnonzero(np.diff(piece)) + 1):
            row = np.repeat(rows, count[rows])
            offset = np.arange(len(row)) - np.repeat(np.cumsum(count[rows]) - count[rows], count[rows])
            other = order[np.repeat(start[rows], count[rows]) + offset]
            distance = np.bitwise_count(hashes[row] ^ others[other]).astype(np.int64)
            near = distance <= radius
            if near.any():
                yield row[near], other[near], distance[near]


def _closest(row: Indices, other: Indices, distance: Indices, keep: int) -> tuple[Indices, Indices, Indices]:
    """The ``keep`` nearest of each row, each pair once."""
    order = np.lexsort((other, distance, row))
    row, other, distance = row[order], other[order], distance[order]
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (other[1:] != other[:-1])
    row, other, distance = row[new], other[new], distance[new]
    rank = np.arange(len(row)) - np.searchsorted(row, row, "left")
    return row[rank < keep], other[rank < keep], distance[rank < keep]
