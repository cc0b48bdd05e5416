"""Is an order of test rows that of a public column, such as a date? Then it tells only what models may know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of
from mlecore_audit.training import joined

if TYPE_CHECKING:
    from pandas import Series

_ROWS = 20_000  # evenly chosen
_DEPTH = 3  # columns by which rows may be sorted: a shop, then a day
_DISORDER = 0.01  # share of rows that may be out of order
_DENSE = 0.5  # of the whole numbers of a range: a column that has so many numbers the rows, and explains nothing
_DATE = r"((?:19|20)\d\d)[-/._]?(\d\d)[-/._]?(\d\d)(?:[T _-]?(\d\d)[:._-]?(\d\d)(?:[:._-]?(\d\d(?:\.\d+)?))?)?"


def is_explained(subject: Subject, places: Series[float], steps: int) -> bool:
    """Do public columns of the test rows, or dates in their keys, stand in the order of ``places`` (by key)?

    ``steps``: different places that the columns must tell apart.
    """
    places = places.sort_values(kind="stable")
    places = places.iloc[np.linspace(0, len(places) - 1, min(len(places), _ROWS)).astype(int)]
    return any(_sorted(list(columns), min(steps, len(places) // 8)) for columns in _columns(subject, places.index))


def _columns(subject: Subject, keys: Any) -> Iterator[Iterator[NDArray[np.float64]]]:
    """What each test table is sorted by, in the order of ``keys``; then what the keys are sorted by."""
    for table in subject.tables("test"):
        frame = next(iter(table.batches()), None)
        if frame is not None and table.key:
            known = frame.set_axis(joined(frame, table.key).to_numpy(), axis=0)
            known = known[~known.index.duplicated()].reindex(keys)
            if known[table.key[0]].notna().mean() >= 1 - _DISORDER:
                yield (
                    values
                    for name in frame.columns
                    if name not in table.labels
                    for values in _values(known[name], name in table.key)
                )
    yield _values(keys.to_series(), True)


def _values(column: Series[str], is_key: bool) -> Iterator[NDArray[np.float64]]:
    """A column as numbers, if it could be what rows are sorted by: dates, quantities, words without numbers."""
    import pandas as pd

    text = column.fillna("")
    parts = text.str.extract(_DATE)
    if parts[0].notna().mean() > 1 - _DISORDER:
        yield numbers_of(parts.fillna("").agg("".join, axis=1))
    numbers = numbers_of(text)
    if is_key:
        return
    if np.isfinite(numbers).mean() > 1 - _DISORDER:
        own = np.unique(numbers)
        if not ((own == own.round()).all() and len(own) == len(numbers) and len(own) > _DENSE * np.ptp(own)):
            yield numbers
    elif text.str.contains(r"\d").mean() > 0.9:
        for day_first in (True, False):
            when = pd.to_datetime(text, errors="coerce", format="mixed", dayfirst=day_first, utc=True)
            if when.notna().mean() > 1 - _DISORDER:
                yield when.to_numpy("datetime64[ns]").astype(float)
    elif not text.str.contains(r"\d").any():
        yield pd.factorize(text, sort=True)[0].astype(float)


def _sorted(columns: list[NDArray[np.float64]], steps: int) -> bool:
    """Do rows stand in the order of one of the columns, and among its equal values in that of another, and so on?"""
    if not columns:
        return False
    new = np.zeros(len(columns[0]) - 1, bool)  # where a group of rows begins that are told apart from those before
    for _ in range(_DEPTH):
        best = new
        for values in columns:
            step = np.where(new, 0.0, np.diff(values))
            if min((step < 0).mean(), (step > 0).mean()) <= _DISORDER:
                best = max(best, new | (step != 0), key=np.count_nonzero)
        if best.sum() == new.sum():
            return False
        new = best
        if new.sum() + 1 >= steps:
            return True
    return False
