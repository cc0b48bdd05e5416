"""Assertions on data, real or synthetic: a clear error instead of wrong tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from mlecore.errors import DataError

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN = 3


def ensure(condition: object, message: str) -> None:
    """Raise DataError with ``message`` unless ``condition`` is true."""
    if not condition:
        raise DataError(message)


def ensure_columns(frame: DataFrame, columns: Sequence[str], what: str) -> None:
    """Raise DataError unless ``frame`` has exactly these columns in this order. ``what`` names it in the error."""
    found = list(frame.columns)
    if found != list(columns):
        raise DataError(f"{what} has the columns {', '.join(map(str, found))}; expected {', '.join(columns)}")


def ensure_unique(values: Iterable[Any], what: str) -> None:
    """Raise DataError if a value is repeated. ``what`` names them in the error: "ids of train.csv"."""
    column: Any = values
    if hasattr(column, "is_duplicated"):  # a column of polars, whose cells are slow to read one by one
        values = column.filter(column.is_duplicated())
    seen: set[Any] = set()
    repeated = [value for value in values if value in seen or seen.add(value)]  # type: ignore[func-returns-value]
    if repeated:
        raise DataError(f"{what}: {len(repeated)} repeated, such as {_some(repeated)}")


def ensure_disjoint(train: Iterable[Any], test: Iterable[Any], what: str) -> None:
    """Raise DataError if a value is in both parts. ``what`` names them in the error."""
    column, other = cast("tuple[Any, Any]", (train, test))
    # columns of polars, whose cells are slow to read one by one; it only compares equal types
    if hasattr(column, "is_in") and column.dtype == getattr(other, "dtype", None):
        train = test = column.filter(column.is_in(other.implode()))
    known = set(test)  # the smaller part
    if both := {value for value in train if value in known}:
        raise DataError(f"{what}: {len(both)} in both parts of the split, such as {_some(sorted(both, key=str))}")


def _some(values: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in values[:_SHOWN])
