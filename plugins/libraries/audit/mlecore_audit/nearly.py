"""Does one column alone tell the answers nearly perfectly, as something does that is known only afterwards?

Of two classes that is an AUROC above 0.99, of more classes that of each against the others, and of quantities a rank
correlation above 0.99. Besides the column's own order, the mean of a bin's other rows is tried (leaving one out), so
that words, gaps and values in between tell, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mlecore_audit.columns import rank_correlation
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from pandas import Series

_TOLD = 0.99
_CLASSES = 60  # of more, numbers are a quantity
_FEWEST = 5  # rows of a class, for its AUROC to count
_BINS = 64
_IN_BIN = 8  # rows at least
_COMMON = 0.01  # share of the rows that a word must have: rarer ones are groups of rows, which tell, too
_SHRINK = 2.0  # rows of the overall mean that each bin's mean counts besides its own
_ORDERS = "an AUROC of", "an AUROC of each class of at least", "a rank correlation of"


@frozen
class Told:
    """How well one column tells the answers."""

    words: str  # "an AUROC of 0.9973"
    bits: float  # -log2 of the chance that a column which knows nothing tells as much
    predictions: list[str]  # by row


def told(truth: Series[str], column: Series[str]) -> Told | None:
    """None for a column that tells less, and for answers that are neither some classes nor quantities."""
    values, numbers = numbers_of(truth), numbers_of(column)
    missing = (column == "").to_numpy()
    is_number = bool(np.isfinite(numbers[~missing]).mean() > _TOLD) if not missing.all() else False
    if np.isfinite(values).all() and truth.nunique() > _CLASSES:
        return _quantity(values, numbers) if is_number and not missing.any() else None
    codes, classes = _codes(truth)
    sizes = np.bincount(codes)
    if not 2 <= len(classes) <= _CLASSES or (sizes >= _FEWEST).sum() < 2:
        return None
    bins = _ranges(numbers) if is_number else _words(column)
    member = np.eye(len(classes))[codes]
    guessed = _left_out(bins, member)
    own = [class_ for class_ in range(len(classes)) if sizes[class_] >= _FEWEST]
    areas = [auroc(guessed[:, class_], codes == class_) for class_ in own]
    if len(classes) == 2 and is_number:
        filled = np.where(np.isfinite(numbers), numbers, -np.inf)
        area = auroc(filled, codes == 1)
        areas = [max(*areas, area, 1 - area)]
    if min(areas) <= _TOLD:
        return None
    rarest = min(int(sizes[class_]) for class_ in own)
    error = math.sqrt((len(codes) + 1) / (12 * rarest * (len(codes) - rarest)))
    words = f"{_ORDERS[len(classes) > 2]} {min(areas):.4f}"
    return Told(words, _bits((min(areas) - 0.5) / error), [classes[best] for best in guessed.argmax(axis=1)])


def auroc(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The share of pairs of a positive and another row (both of shape (rows,)) in the right order; of ties one half."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    count = int(positive.sum())
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(score) - count)))


def _quantity(values: NDArray[np.float64], numbers: NDArray[np.float64]) -> Told | None:
    correlation = rank_correlation(values, numbers)
    if abs(correlation) <= _TOLD:
        return None
    ordered = np.sort(values)[:: 1 if correlation > 0 else -1]
    guessed = np.empty(len(values))
    guessed[np.argsort(numbers, kind="stable")] = ordered
    words = f"{_ORDERS[2]} {correlation:.4f}"
    return Told(words, _bits(abs(correlation) * math.sqrt(len(values) - 1)), list(map(repr, guessed.tolist())))


def _bits(deviations: float) -> float:
    """-log2 of the chance of a normal value so many standard deviations above its mean, by Chernoff's bound."""
    return max(0.0, deviations**2 / 2 / math.log(2))


def _codes(truth: Series[str]) -> tuple[NDArray[np.int64], list[str]]:
    import pandas as pd

    codes, classes = pd.factorize(truth.to_numpy(), sort=True)
    return codes.astype(np.int64), list(map(str, classes))


def _ranges(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Bins of equally many rows; one for gaps."""
    known = np.isfinite(numbers)
    own = numbers[known]
    count = max(2, min(_BINS, len(own) // _IN_BIN))
    edges = np.unique(np.quantile(own, np.linspace(0, 1, count + 1)[1:-1]))
    bins: NDArray[np.int64] = np.zeros(len(numbers), np.int64)
    bins[known] = 1 + np.searchsorted(edges, own, side="right")
    return bins


def _words(column: Series[str]) -> NDArray[np.int64]:
    """A bin for each frequent word, and one for all others."""
    counts = column.value_counts()
    common = counts.index[counts >= max(_COMMON * len(column), _IN_BIN)]
    bins: NDArray[np.int64] = (
        column.map({word: code for code, word in enumerate(common, 1)}).fillna(0).to_numpy(np.int64)
    )
    return bins


def _left_out(bins: NDArray[np.int64], member: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per row and class the share of the bin's other rows that are of the class."""
    counts = np.bincount(bins)[bins][:, None]
    sums = np.stack([np.bincount(bins, column) for column in member.T], axis=1)[bins]
    shares: NDArray[np.float64] = (sums - member + _SHRINK * member.mean(axis=0)) / (counts - 1 + _SHRINK)
    return shares
