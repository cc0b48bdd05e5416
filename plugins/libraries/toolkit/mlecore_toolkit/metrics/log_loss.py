"""Log loss with the natural logarithm, clipped as in scikit-learn (since 1.5) or at Kaggle, without rescaling rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlecore.errors import GradingError, InvalidSubmission

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

EPSILON = 2.220446049250313e-16  # of float64: a completely wrong answer costs 36.0437
KAGGLE_CLIP = 1e-15  # a completely wrong answer costs 34.5388


def log_loss(truth: ArrayLike, probability: ArrayLike, *, clip: float = EPSILON) -> float:
    """Mean over rows of -ln(p of the true class), with p clipped to [clip, 1 - clip]; Kaggle's clip is KAGGLE_CLIP.

    Binary: both have one dimension, with truth 0 or 1 and the probability of 1. Multi-class: both are rows x classes,
    with one-hot truth (or weights of the classes). Rows are not rescaled, whatever they add up to.

    Raises InvalidSubmission if a binary truth has one class only, because the published grader fails then.
    """
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    if y.shape != p.shape or y.ndim not in (1, 2):
        raise GradingError(f"truth and probabilities differ in shape: {y.shape} and {p.shape}")
    if y.ndim == 1:
        if len(np.unique(y)) < 2:
            raise InvalidSubmission("the answers hold one class only, so log loss is undefined for every submission")
        y, p = np.column_stack([1 - y, y]), np.column_stack([1 - p, p])
    return float(-(y * np.log(np.clip(p, clip, 1 - clip))).sum(axis=1).mean())


def mean_log_loss(truth: ArrayLike, probability: ArrayLike, *, clip: float = EPSILON) -> float:
    """The mean of the columns' binary log losses (rows x columns, paired by position), with p clipped as above.

    -1/M sum_m 1/N sum_i (y_im ln p_im + (1 - y_im) ln(1 - p_im)): the "mean column-wise log loss" of Kaggle's
    Mechanisms of Action (lish-moa). A column with one class only counts like any other.
    """
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    if y.shape != p.shape or y.ndim != 2:
        raise GradingError(f"truth and probabilities differ in shape: {y.shape} and {p.shape}")
    p = np.clip(p, clip, 1 - clip)
    return float(-(y * np.log(p) + (1 - y) * np.log1p(-p)).mean())
