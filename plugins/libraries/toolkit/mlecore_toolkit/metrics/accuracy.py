"""Accuracy: the share of rows where prediction and answer are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def accuracy(truth: ArrayLike, predictions: ArrayLike) -> float:
    """For labels of one kind: ``labels(...)`` with numbers or booleans, ``texts(...)`` with text."""
    return float(np.mean(_comparable(truth) == _comparable(predictions)))


def _comparable(values: ArrayLike) -> NDArray[Any]:
    """Text as objects, so that trailing NULs count and texts are not padded."""
    return np.asarray(values, dtype=object) if isinstance(values, list) else np.asarray(values)
