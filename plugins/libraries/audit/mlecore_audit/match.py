"""Is a column the answers: as they are, under other names, transformed, or nearly?

Agreement is judged by its bits of evidence: -log2 of the chance that a column which knows nothing agrees as well. It
must exceed ``columns.luck`` of the number of pairs that were tried, so that small tables and few classes prove nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mlecore_audit.columns import PROBE, SHARE, alike, arrangement_bits, copy_of, luck
from mlecore_audit.nearly import told
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from pandas import Series

Relation = Literal["equal", "linear", "relabelled", "monotonic", "certain", "nearly"]

_FEWEST = 5  # rows
LONG = 12  # characters of a text that two columns do not share by chance
_CORRECTED = 50  # labels, more of which are mostly the input itself in tasks that correct it
_PURE = 0.995  # of the rows with a rare value that must have one label, for that value to be certain
_COMMON = 0.2  # of the rows that must have the most frequent value, for "any other" to be a sign
_CERTAIN = 20  # rows that the sign must have


@frozen(kw_only=True)
class Match:
    """One column tells another."""

    relation: Relation  # "certain": every value but the most frequent one stands for one label
    rows: int  # compared
    bits: float  # of evidence
    predictions: Series[str]  # what the column says about the answers, by key; of the rows that it says it of
    degree: str = ""  # "an AUROC of 0.9973", where it tells nearly all


def match(truth: Series[str], column: Series[str], tried: int) -> Match | None:
    """Does ``column`` tell ``truth``, row by row (same index)? ``tried``: pairs of columns compared so far."""
    if len(truth) < 2 or truth.nunique() < 2 or (distinct := column.nunique()) < 2:
        return None
    needed = luck(tried)
    rising = None
    repeated = distinct <= (1 - _COMMON) * len(column) + 1  # else no value can stand for a label
    for look in (_equal, _function, _relabelled, _certain) if repeated else (_equal, _function):
        found = look(truth, column)
        if found is not None and found.bits >= needed:
            if found.relation != "monotonic":
                return found
            rising = found  # the least that can be said
    least = rising or _nearly(truth, column)
    return least if least is not None and least.bits >= needed else None


def same(truth: Series[str], column: Series[str]) -> NDArray[np.bool_]:
    """Which rows have the same text or the same number in both."""
    text: NDArray[np.bool_] = truth.to_numpy() == column.to_numpy()
    for rows in (1000, len(text)):  # 1 and 1.0; the whole column only if its beginning agrees
        first, second = (numbers_of(each[:rows]) for each in (truth, column))
        found: NDArray[np.bool_] = text[:rows] | (first == second)
        if found.mean() < SHARE:
            return text
    return found


def _equal(truth: Series[str], column: Series[str]) -> Match | None:
    agree = same(truth, column)
    if agree.mean() < SHARE or agree[_rare(truth)].mean() < SHARE:
        return None
    long = {text for text in truth.unique() if len(text) >= LONG and math.isnan(numbers_of([text])[0])}
    return Match(
        relation="equal", rows=len(truth), bits=_bits(truth) + 64.0 * max(0, len(long) - 1), predictions=column
    )


def _relabelled(truth: Series[str], column: Series[str]) -> Match | None:
    """Each value of the column stands for one label. Naming them costs evidence: many values say nothing."""
    import pandas as pd

    if len(truth) < _FEWEST or column.nunique() > len(truth) / 2 or truth.nunique() > len(truth) / 2:
        return None
    if column.nunique() > 2 * truth.nunique():
        return None  # a group, such as a patient, has one label, too, but its name does not say which
    if truth.nunique() > _CORRECTED and (truth == column).mean() > 0.5:
        return None  # an input that is to be corrected, such as the words of a text
    pairs = pd.DataFrame({"value": column, "label": truth}).value_counts().reset_index()
    usual = pairs.drop_duplicates("value").set_index("value")["label"]
    predictions = column.map(usual)
    agree = (predictions == truth).to_numpy()
    if agree.mean() < SHARE or agree[_rare(truth)].mean() < SHARE:
        return None
    naming = column.nunique() * math.log2(truth.nunique())
    return Match(relation="relabelled", rows=len(truth), bits=_bits(truth) - naming, predictions=predictions)


def _function(truth: Series[str], column: Series[str]) -> Match | None:
    """A rising or falling function of the answers, such as a scale."""
    if len(truth) < _FEWEST or not _worth_a_look(truth, column):
        return None
    values, other = numbers_of(truth), numbers_of(column)
    known = np.isfinite(values) & np.isfinite(other)
    if known.mean() < SHARE or (found := copy_of(values, other)) is None:
        return None
    predictions = truth.copy()
    if found.relation == "monotonic":
        if column.nunique() < truth.nunique() / 2 or found.evidence < 0:
            return None
        falling = np.corrcoef(_ranks(other), _ranks(values))[0, 1] < 0
        ordered = np.sort(values)[::-1] if falling else np.sort(values)
        predictions[:] = [repr(v) for v in ordered[_ranks(other)].tolist()]
    else:
        slope, start = np.polyfit(other[known], values[known], 1)
        whole = bool((values[known] == values[known].round()).all())
        fitted = slope * other + start
        predictions[:] = [str(round(v)) if whole else repr(v) for v in np.where(known, fitted, 0.0).tolist()]
    return Match(relation=found.relation, rows=found.rows, bits=found.bits, predictions=predictions)


def _worth_a_look(truth: Series[str], column: Series[str]) -> bool:
    """Do some rows follow each other, before all are turned into numbers and sorted?"""
    rows = np.linspace(0, len(truth) - 1, min(len(truth), PROBE)).astype(int)
    values, other = numbers_of(truth.iloc[rows]), numbers_of(column.iloc[rows])
    known = np.isfinite(values) & np.isfinite(other)
    return bool(known.mean() > 0.9 and alike(values[known, None], other[known, None])[0, 0])


def _certain(truth: Series[str], column: Series[str]) -> Match | None:
    """Rows with any but the most frequent value have the same label: a field that is filled in afterwards."""
    counts = column.value_counts()
    other = (column != counts.index[0]).to_numpy()
    if counts.iloc[0] < _COMMON * len(column) or other.sum() < _CERTAIN:
        return None
    labels = truth[other].value_counts()
    base = float((truth == labels.index[0]).mean())
    if labels.iloc[0] < _PURE * other.sum() or base > 1 - 1e-9:
        return None
    predictions = truth.copy()
    predictions[other] = labels.index[0]
    predictions[~other] = truth[truth != labels.index[0]].mode().iloc[0]
    bits = -float(other.sum()) * math.log2(base) - math.log2(max(2, len(counts)))
    return Match(relation="certain", rows=int(other.sum()), bits=bits, predictions=predictions)


def _nearly(truth: Series[str], column: Series[str]) -> Match | None:
    if (found := told(truth, column)) is None:
        return None
    predictions = truth.copy()
    predictions[:] = found.predictions
    return Match(relation="nearly", rows=len(truth), bits=found.bits, predictions=predictions, degree=found.words)


def _rare(truth: Series[str]) -> NDArray[np.bool_]:
    """Rows without the most frequent answer."""
    rare: NDArray[np.bool_] = (truth != truth.mode().iloc[0]).to_numpy()
    return rare


def _bits(truth: Series[str]) -> float:
    """Bits of evidence in equal labels."""
    import pandas as pd

    return arrangement_bits(pd.factorize(truth.to_numpy())[0])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks
