"""Area under the ROC curve: the probability that a positive has a higher score than a negative; ties count half."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlecore.errors import GradingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def roc_auc(truth: ArrayLike, score: ArrayLike) -> float:
    """AUROC of finite scores for a truth of 0/1 (or booleans). NaN if the truth has one class only.

    Equals scikit-learn's ``roc_auc_score``, which raised for one class up to 1.5 and gives NaN since. It is
    Mann-Whitney's U divided by the number of pairs.
    """
    positive = _positive(truth)
    values = np.asarray(score, dtype=np.float64)
    if positive.shape != values.shape or positive.ndim != 1:
        raise GradingError(f"truth and score differ in shape: {positive.shape} and {values.shape}")
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return float("nan")
    hits, misses = np.sort(values[positive]), np.sort(values[~positive])
    twice = sum(int(np.searchsorted(misses, hits, side).sum()) for side in ("left", "right"))  # exact
    return twice / (2 * positives * negatives)


def mean_roc_auc(truth: ArrayLike, score: ArrayLike) -> float:
    """The mean of the columns' AUROCs (rows x columns, paired by position); NaN if one of them is."""
    truths, scores = np.asarray(truth), np.asarray(score, dtype=np.float64)
    if truths.shape != scores.shape or truths.ndim != 2:
        raise GradingError(f"truth and score differ in shape: {truths.shape} and {scores.shape}")
    return float(np.mean([roc_auc(truths[:, k], scores[:, k]) for k in range(truths.shape[1])]))


def _positive(truth: ArrayLike) -> NDArray[np.bool_]:
    values = np.asarray(truth)
    positive = values == 1
    if not (positive | (values == 0)).all():
        raise GradingError("the answers contain something other than 0 and 1")
    return np.asarray(positive)
