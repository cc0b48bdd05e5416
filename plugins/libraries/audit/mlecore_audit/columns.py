"""Is one column of numbers a copy of another, whatever was done to hide it: rounding, noise, a scale, a curve?

Every such change keeps the order of the rows. So the test is whether the rows, sorted by one column, are sorted by the
other too, and how improbable that is. It needs no names, scales or distributions.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Relation = Literal["equal", "linear", "monotonic"]
Numbers = NDArray[np.float64]

SHARE = 0.99  # of the rows that must agree: a few may have been altered
_LUCK = 20.0  # bits beyond the number of pairs that were tried: one in a million
_MODEL = -math.log2(1 - 0.99**2) / 2  # bits per row that a good input knows of an order: correlation 0.99
_STEP = 1e-6  # of a column's range: smaller differences are rounding or noise
_ROWS = 50_000  # that are compared, evenly chosen
PROBE = 500  # rows by which pairs of columns are chosen that are worth a closer look
_ALIKE = 0.7  # rank correlation of such a pair


@frozen(kw_only=True)
class Copy:
    """One column is a function of the other."""

    relation: Relation  # what the function is; "monotonic": any that only rises, or only falls
    rows: int  # compared
    distinct: int  # different values of the first column, apart from rounding and noise
    bits: float  # -log2 of the chance that rows in random order agree as well as these

    @property
    def evidence(self) -> float:
        """Bits beyond those of a good model's predictions, which follow an order, too."""
        return self.bits - (_MODEL * self.rows if self.relation == "monotonic" else 0.0)


def luck(tried: int) -> float:
    """Bits of evidence that the best of so many pairs of columns has by chance in one of a million audits."""
    return _LUCK + math.log2(max(1, tried))


def copy_of(values: Numbers, other: Numbers) -> Copy | None:
    """Are ``values`` a rising or falling function of ``other``, row by row (both of shape (rows,))?

    Rows in which one of them is not finite are left out. None if they are not, or if one column is constant. Judge
    ``bits`` before you believe it: of five rows, or two different values, agreement says nothing.
    """
    known = np.isfinite(values) & np.isfinite(other)
    values, other = values[known], other[known]
    if len(values) > _ROWS:
        chosen = np.linspace(0, len(values) - 1, _ROWS).astype(int)
        values, other = values[chosen], other[chosen]
    if len(values) < 2:
        return None
    steps, other_steps = in_steps(values), in_steps(other)
    if steps.min() == steps.max() or other_steps.min() == other_steps.max():
        return None
    rows = len(values)
    sorted_rows = max(_sorted_rows(steps, other_steps), _sorted_rows(-steps, other_steps))
    if sorted_rows < SHARE * rows:
        return None
    relation = _relation(values, other)
    altered = 2 * (rows - sorted_rows) * math.log2(rows)  # which rows, and where they went
    return Copy(
        relation=relation,
        rows=rows,
        distinct=len(np.unique(steps)),
        bits=max(0.0, order_bits(steps, other_steps) - altered),
    )


def alike(columns: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which pairs are worth ``copy_of``: of shape (columns, others), from tables of shape (rows, columns).

    A quick look at some rows, for tables with thousands of pairs.
    """
    rows = np.linspace(0, len(columns) - 1, min(len(columns), PROBE)).astype(int)
    first, second = (_standard_ranks(table[rows]) for table in (columns, others))
    found: NDArray[np.bool_] = np.abs(first.T @ second) >= _ALIKE * len(rows)
    return found


def rank_correlation(values: Numbers, other: Numbers) -> float:
    """Spearman's, ties with their mean rank; 0 if a column is constant."""
    first, second = (_standard_ranks(column[:, None]) for column in (values, other))
    return float((first.T @ second)[0, 0] / len(values))


def order_bits(values: NDArray[Any], other: NDArray[Any]) -> float:
    """-log2 of the chance that ``values``, in random order, are sorted by ``other``.

    With n rows and the multiplicities t of equal values there are n! / prod(t!) orders. Rows that are equal in
    ``other`` may stand in any order among themselves.
    """
    order = np.lexsort((values, other))
    groups = np.split(values[order], np.flatnonzero(np.diff(other[order])) + 1)
    return arrangement_bits(values) - sum(arrangement_bits(group) for group in groups if len(group) > 1)


def in_steps(values: Numbers) -> NDArray[np.int64]:
    """Numbers as whole multiples of a millionth of their range, which leaves out rounding and noise."""
    low, high = np.quantile(values, [0.05, 0.95])
    span = high - low or values.max() - values.min() or 1.0
    steps: NDArray[np.int64] = np.clip(np.round((values - np.median(values)) / (span * _STEP)), -(2**62), 2**62).astype(
        np.int64
    )
    return steps


def arrangement_bits(values: NDArray[Any]) -> float:
    """log2 of the number of different orders of these values: the evidence in two equal columns of them."""
    counts = np.unique(values, return_counts=True)[1]
    return (math.lgamma(len(values) + 1) - sum(map(math.lgamma, (counts + 1).tolist()))) / math.log(2)


def _sorted_rows(steps: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """The most rows of which ``steps`` do not fall while ``other`` rises: the longest such subsequence (Fredman 1975).

    A step back by one is rounding.
    """
    return _longest(steps[np.lexsort((steps, other))].tolist())


def _longest(sequence: Iterable[int]) -> int:
    ends: list[int] = []
    for value in sequence:
        at = bisect_right(ends, value + 1)
        if at == len(ends):
            ends.append(max(value, ends[-1]) if ends else value)
        else:
            ends[at] = min(ends[at], max(value, ends[at - 1]) if at else value)
    return len(ends)


def _relation(values: Numbers, other: Numbers) -> Relation:
    low, high = np.quantile(values, [0.05, 0.95])
    tolerance = 10 * _STEP * (high - low or values.max() - values.min())
    if np.mean(np.abs(values - other) <= tolerance) >= SHARE:
        return "equal"
    order = np.argsort(other, kind="stable")
    half = len(order) // 2
    rise = (values[order][half:] - values[order][: len(order) - half]).astype(float)
    run = other[order][half:] - other[order][: len(order) - half]
    if not (run > 0).any():
        return "monotonic"
    slope = np.median(rise[run > 0] / run[run > 0])
    rest = values - slope * other
    return "linear" if np.mean(np.abs(rest - np.median(rest)) <= tolerance) >= SHARE else "monotonic"


def _standard_ranks(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean ranks of each column with mean 0 and standard deviation 1; zeros for a constant one. NaN is the largest."""
    ranks = np.empty(table.shape)
    for number, column in enumerate(table.T):
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks[:, number] = (ends - (counts - 1) / 2)[inverse]
    ranks -= ranks.mean(axis=0)
    deviation = ranks.std(axis=0)
    return ranks / np.where(deviation > 0, deviation, 1.0)
