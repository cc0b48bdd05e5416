"""The weighted area under the ROC curve: what is found at few false alarms counts twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CUT = 0.4  # the true-positive rate that parts the bands
LOW, HIGH = 2.0, 1.0  # the weights of the bands below and above it


def weighted_auc(truth: NDArray[np.int64], score: NDArray[np.float64]) -> float:
    """Of finite scores against truth of 0 and 1, from 0 to 1; NaN where truth has one class only.

    Each band of the true-positive rate gives the area below the curve inside it, and the areas' weighted sum is divided
    by that of a perfect ranking.
    """
    import numpy as np

    order = np.argsort(-score, kind="stable")
    ranked, positive = score[order], truth[order] == 1
    last = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True])  # of each group of equal scores
    hits = np.cumsum(positive)[last]
    alarms = last + 1 - hits
    if not hits[-1] or not alarms[-1]:
        return float("nan")
    tpr, fpr = np.r_[0, hits / hits[-1]], np.r_[0, alarms / alarms[-1]]
    area = LOW * _band(fpr, tpr, 0, CUT) + HIGH * _band(fpr, tpr, CUT, 1)
    return area / (LOW * CUT + HIGH * (1 - CUT))


def _band(fpr: NDArray[Any], tpr: NDArray[Any], low: float, high: float) -> float:
    """The area below the curve between two rates of true positives: the curve cut off at both, from ``low`` up.

    A step that crosses a rate is parted there.
    """
    import numpy as np

    for rate in (low, high):
        if rate not in tpr:
            after = int(np.argmax(tpr > rate))
            share = (rate - tpr[after - 1]) / (tpr[after] - tpr[after - 1])
            crossing = fpr[after - 1] + share * (fpr[after] - fpr[after - 1])
            fpr, tpr = np.insert(fpr, after, crossing), np.insert(tpr, after, rate)
    inside = (low <= tpr) & (tpr <= high)
    x, y = np.r_[fpr[inside], 1], np.r_[tpr[inside], high] - low
    return float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)
