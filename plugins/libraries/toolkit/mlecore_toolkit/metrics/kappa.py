"""Cohen's quadratic weighted kappa on the labels that occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlecore.errors import GradingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def quadratic_weighted_kappa(truth: ArrayLike, predictions: ArrayLike, *, by_value: bool = False) -> float:
    """1 - sum(w * O) / sum(w * E), w = (i - j)^2, as scikit-learn's ``cohen_kappa_score(weights="quadratic")``.

    i and j are **places** in the sorted list of labels that occur on either side, not the labels: a label that occurs
    on neither side does not widen distances, an extra one shifts those after it. ``by_value``: they are the labels,
    which must be small integers, as if ``cohen_kappa_score`` got all labels of the task. E is the product of the
    histograms over the number of rows. NaN if all truths and predictions are the same label. Memory depends on the
    number of rows only.
    """
    y, p = np.asarray(truth), np.asarray(predictions)
    if y.dtype.kind == "f" and (y % 1 != 0).any():  # scikit-learn rejects these, and missing values
        raise GradingError("the answers contain something other than whole numbers")
    if p.dtype.kind == "u" and set(y.tolist()) <= set(p.tolist()):
        y = y.astype(p.dtype)  # scikit-learn lists the labels of the predictions first, with their type
    if by_value:
        return _kappa(y.astype(np.float64), p.astype(np.float64))
    codes = np.unique(np.concatenate([y, p]), return_inverse=True)[1]
    i, j = np.split(codes.astype(np.float64), 2)
    if np.result_type(y, p).kind == "f":  # int64 with uint64: scikit-learn's list of labels holds doubles, and
        kept = _double(y) & _double(p)  # a row with a label that no double equals is not counted
        i, j = i[kept], j[kept]
    return _kappa(i, j)


def _kappa(i: NDArray[np.float64], j: NDArray[np.float64]) -> float:
    observed = ((i - j) ** 2).sum()
    # sum over all pairs (k, l) of (i_k - j_l)^2 / n, without the table of labels x labels
    expected = (i**2).sum() + (j**2).sum() - 2 * i.sum() * j.sum() / len(i)
    if expected == 0:
        return float("nan")
    return float(1 - observed / expected)


def _double(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of these whole numbers are exact as float64?"""
    return np.array([int(value) == int(float(value)) for value in values.tolist()], dtype=bool)
