"""RMSE, RMSLE and MAE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlecore.errors import GradingError, InvalidSubmission

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def rmse(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Root mean squared error; for several columns (rows x columns), the mean of the columns' errors.

    Finite values that are too large to square give infinity.
    """
    y, p = _pair(truth, predictions)
    with np.errstate(over="ignore"):
        return float(np.sqrt(((y - p) ** 2).mean(axis=0)).mean())


def rmsle(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Root mean squared difference of ln(1 + value); for several columns, the mean of the columns' errors.

    Raises InvalidSubmission for a prediction of -1 or less, as scikit-learn 1.6 and later do (1.5: below 0).
    """
    y, p = _pair(truth, predictions)
    if (p <= -1).any():
        raise InvalidSubmission(f"predictions must be greater than -1; found {float(p.min()):g}")
    return rmse(np.log1p(y), np.log1p(p))


def mae(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Mean absolute error of one column."""
    y, p = _pair(truth, predictions)
    with np.errstate(over="ignore"):
        return float(np.abs(y - p).mean())


def _pair(truth: ArrayLike, predictions: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    if y.shape != p.shape:
        raise GradingError(f"truth and predictions differ in shape: {y.shape} and {p.shape}")
    return y, p
