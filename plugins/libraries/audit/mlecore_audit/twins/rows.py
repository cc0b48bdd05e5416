"""Rows of tables that are equal, numbers rounded, and whether they are so by more than chance.

Where columns take few values, rows of different things are equal too. Then many pairs that agree in half of the columns
differ in the other half. Two records of one thing that agree in any half of the columns agree in all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FEWEST_COLUMNS = 3
_HALVES = 8  # random choices of half of the columns
_SURE = 0.5  # of the train rows that equal a row in half of its columns, how many equal it in all
_RARE = 0.05  # train rows that would equal a row if columns were independent
_STEP = 1e-3  # of a column's spread, to which fractions are rounded

Hashes = NDArray[np.uint64]


def equal_rows(
    test: DataFrame, train: Iterable[tuple[Series[str], DataFrame]], columns: Sequence[str]
) -> dict[int, str]:
    """Test row -> key of the first train row that equals it in all ``columns``, where that is no coincidence.

    ``train`` gives keys and typed rows, a piece at a time; memory is linear in the test rows.
    """
    steps = {column: _step(test[column]) for column in columns}
    rng = np.random.default_rng(0)
    choices = [np.ones(len(columns), bool)]
    for _ in range(_HALVES):
        choices.append(np.isin(np.arange(len(columns)), rng.permutation(len(columns))[: (len(columns) + 1) // 2]))
    own = _hashes(test, steps, choices)
    count = np.zeros((len(choices), len(test)), np.int64)
    found: dict[int, str] = {}
    rows = 0
    for keys, piece in train:
        if piece.empty:
            continue
        rows += len(piece)
        for number, others in enumerate(_hashes(piece, steps, choices)):
            distinct, first, times = np.unique(others, return_index=True, return_counts=True)
            at = np.searchsorted(distinct, own[number])
            at[at == len(distinct)] = 0
            equal = distinct[at] == own[number]
            count[number] += np.where(equal, times[at], 0)
            if number == 0:
                for row in np.flatnonzero(equal).tolist():
                    found.setdefault(row, str(keys.iloc[first[at[row]]]))
    sure = np.median(count[0] / np.maximum(count[1:], 1), axis=0) >= _SURE
    sure &= _chance(test, steps) * rows < _RARE
    return {row: key for row, key in found.items() if sure[row]}


def _step(column: Series[Any]) -> float:
    """To which its numbers are rounded; 0 for whole numbers and texts, which are compared as they are."""
    import pandas as pd

    if not pd.api.types.is_float_dtype(column):
        return 0.0
    values = column.to_numpy(float)
    values = values[np.isfinite(values)]
    if len(values) == 0 or (values == np.round(values)).all():
        return 0.0
    return float(np.std(values)) * _STEP


def _hashes(frame: DataFrame, steps: dict[str, float], choices: Sequence[NDArray[np.bool_]]) -> list[Hashes]:
    """A hash of each row for each choice of columns."""
    sums = [np.zeros(len(frame), np.uint64) for _ in choices]
    with np.errstate(over="ignore"):
        for number, (name, step) in enumerate(steps.items()):
            hashed = (_hashed(frame[name], step) + np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
            hashed ^= hashed >> np.uint64(29)
            hashed *= np.uint64(0xBF58476D1CE4E5B9)
            hashed ^= hashed >> np.uint64(32)
            for total, chosen in zip(sums, choices, strict=True):
                if chosen[number]:
                    total += hashed
    return sums


def _hashed(column: Series[Any], step: float) -> Hashes:
    import pandas as pd

    hashed: Hashes
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)
        hashed = pd.util.hash_array((np.round(values / step) if step else values) + 0.0)  # no negative zero
    else:
        hashed = pd.util.hash_array(column.astype(str).to_numpy(object))
    return hashed


def _chance(frame: DataFrame, steps: dict[str, float]) -> NDArray[np.float64]:
    """Per row how probable it is that another row has the same values, if columns and words were independent."""
    chance = np.ones(len(frame))
    for name, step in steps.items():
        _, value, count = np.unique(_hashed(frame[name], step), return_inverse=True, return_counts=True)
        share = count[value] / len(frame)
        chance *= np.minimum(share, _by_words(frame[name])) if frame[name].dtype == object else share
    return chance


def _by_words(column: Series[str]) -> NDArray[np.float64]:
    """Per text the product of how frequent its words are; 1 for a text of one word."""
    texts = [text.split() for text in column.astype(str)]
    counts = Counter(word for words in texts for word in words)
    total = sum(counts.values())
    return np.array([math.prod(counts[word] / total for word in words) if len(words) > 1 else 1.0 for words in texts])
