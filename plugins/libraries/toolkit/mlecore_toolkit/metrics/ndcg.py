"""Normalized discounted cumulative gain of rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlecore.errors import GradingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def ndcg(group: ArrayLike, relevance: ArrayLike, score: ArrayLike, *, k: int | None = None) -> float:
    """The mean over groups of DCG / DCG of the best ranking; each row is an item of a group, ranked by its score.

    DCG is the sum over ranks i (from 1, up to ``k``) of (2^relevance - 1) / log2(i + 1): Burges et al., *Learning to
    Rank using Gradient Descent* (ICML 2005). Items with the same score share the mean of their gains: McSherry and
    Najork, *Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores* (ECIR
    2008), so the order of rows never matters. Groups in which no item is relevant are left out; NaN if all are.

    Raises GradingError for a relevance below 0, or arrays of different lengths.
    """
    names, gains = np.asarray(group), np.asarray(relevance, dtype=np.float64)
    scores = np.asarray(score, dtype=np.float64)
    if not names.shape == gains.shape == scores.shape or names.ndim != 1:
        raise GradingError(
            f"groups, relevance and scores differ in shape: {names.shape}, {gains.shape}, {scores.shape}"
        )
    if not (gains >= 0).all():
        raise GradingError("the answers contain a relevance that is below 0 or missing")
    groups = np.unique(names, return_inverse=True)[1]
    gains = 2**gains - 1
    best, found = _dcg(groups, gains, gains, k), _dcg(groups, gains, scores, k)
    asked = best > 0
    return float((found[asked] / best[asked]).mean()) if asked.any() else float("nan")


def _dcg(
    groups: NDArray[np.intp], gains: NDArray[np.float64], scores: NDArray[np.float64], k: int | None
) -> NDArray[Any]:
    """Discounted cumulative gain of each group."""
    order = np.lexsort((-scores, groups))
    groups, gains, scores = groups[order], gains[order], scores[order]
    first = np.diff(groups, prepend=-1) != 0  # of its group
    places = np.arange(len(groups))
    ranks = places - np.maximum.accumulate(np.where(first, places, 0))
    discounts = 1 / np.log2(ranks + 2)
    if k is not None:
        discounts[ranks >= k] = 0
    ties = np.cumsum(first | (np.diff(scores, prepend=np.nan) != 0)) - 1
    shared = (np.bincount(ties, gains) / np.bincount(ties))[ties]
    return np.bincount(groups, shared * discounts)
