"""Do labels in a certain order tell that it was made with them? Chance, or a mild trend, does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mlecore_testing.competitions.tables import numbers_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST = 20  # labels needed to tell an order from chance
_FEWEST_OTHERS = 5  # rows without the commonest label: fewer lie together by chance
_DEVIATIONS = 7.0  # standard deviations from the mean of random orders: no chance
_DRAWS = 200  # random orders
_MOST = 5000  # of many rows, so many are looked at
_MONOTONIC = 0.9  # of the rank correlation of label and position in sorted rows
_ROWS_OF_A_BLOCK = 20  # at least, on average


def is_sorted(labels: NDArray[np.object_]) -> bool:
    """Are they sorted, or few labels in a block each? Rows of one recording or picture, alike as neighbours, are not.

    Nearly suffices: nine tenths of the rank correlation of label and position in sorted rows; blocks may be interrupted
    as often again as there are labels.
    """
    import numpy as np
    import pandas as pd

    labels = labels[:: len(labels) // _MOST + 1]
    if not is_clustered(labels):
        return False
    kinds = pd.factorize(labels)[0]
    if kinds.max() < len(kinds) / _ROWS_OF_A_BLOCK and np.count_nonzero(np.diff(kinds)) <= 2 * kinds.max():
        return True
    numbers = pd.Series(numbers_of(labels))
    ranks = (pd.Series(labels) if numbers.isna().any() else numbers).rank().to_numpy()
    found, most = (abs(np.corrcoef(each, np.arange(len(each)))[0, 1]) for each in (ranks, np.sort(ranks)))
    return bool(found >= _MONOTONIC * most)


def is_clustered(labels: NDArray[np.object_]) -> bool:
    """Are equal labels, or near numbers, closer together than in random orders?"""
    import numpy as np
    import pandas as pd

    if len(labels) < FEWEST:
        return False
    kinds = pd.factorize(labels)[0]
    if len(labels) - np.bincount(kinds + 1).max() < _FEWEST_OTHERS:
        return False
    numbers = pd.Series(numbers_of(labels)).rank().to_numpy()
    return (kinds.max() < len(kinds) / 2 and _near(kinds, np.not_equal)) or (
        not np.isnan(numbers).any() and _near(numbers, lambda this, that: np.abs(this - that))
    )


def _near(values: NDArray[Any], distance: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]) -> bool:
    """Is the way from value to value much shorter than in random orders?"""
    import numpy as np

    def way(rows: NDArray[Any]) -> NDArray[Any]:
        between = distance(rows[..., 1:], rows[..., :-1])
        return np.asarray(between.sum(axis=-1, dtype=float))

    rng = np.random.default_rng(0)
    chance = way(np.stack([rng.permutation(values) for _ in range(_DRAWS)]))
    return bool(way(values) < chance.mean() - _DEVIATIONS * chance.std())
