"""The published splits, exactly as scikit-learn's ``train_test_split``, without importing it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

T = TypeVar("T")


def split(items: T, *, test_size: float | None = None, train_size: float | None = None, seed: int = 0) -> tuple[T, T]:
    """(train, test) of a table, column, array or sequence, as ``train_test_split(..., random_state=seed)``.

    A size is a number of items (int) or a share (float). A test share is rounded up, a train share down. Both parts are
    shuffled; tables of pandas keep their index. Raises DataError if a part would be empty.
    """
    train, test = split_positions(len(cast("Sequence[Any]", items)), test_size, train_size, seed)
    return _take(items, train), _take(items, test)


def split_positions(
    count: int, test_size: float | None = None, train_size: float | None = None, seed: int = 0
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]:
    """(train, test) positions of ``count`` items, as int32 if they fit: see ``split``."""
    import numpy as np

    n_train, n_test = _sizes(count, test_size, train_size)
    order: NDArray[np.signedinteger[Any]] = np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)
    np.random.RandomState(seed).shuffle(order)  # as permutation(count) does
    return order[n_test : n_test + n_train], order[:n_test]


def split_groups(frame: DataFrame, by: str, *, test_size: float, seed: int = 0) -> tuple[DataFrame, DataFrame]:
    """(train, test) rows in file order, with whole groups in one part.

    The distinct values of column ``by`` are split in the order of first appearance.
    """
    _, test = split(frame[by].unique(), test_size=test_size, seed=seed)
    in_test = frame[by].isin(test)
    return frame[~in_test], frame[in_test]


def split_each(groups: Iterable[Hashable], *, test_size: float, few: int = 0) -> tuple[list[int], list[int]]:
    """(train, test) positions, with each group split by itself with seed 0. ``groups`` has the group of each item.

    Groups are in the order of first appearance, and each part of a group is shuffled. Of a group with fewer than
    ``few`` items the last item is for testing, of a group of one none. Raises DataError if a part of another group
    would be empty.
    """
    members: dict[Hashable, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    train, test = [], []
    for positions in members.values():
        if len(positions) < few:
            last = max(1, len(positions) - 1)
            parts = positions[:last], positions[last:]
        else:
            parts = split(positions, test_size=test_size)
        train += parts[0]
        test += parts[1]
    return train, test


def split_whole_groups(groups: Sequence[Hashable], *, test_size: float, seed: int = 0) -> tuple[list[int], list[int]]:
    """(train, test) positions in ascending order, with whole groups in one part. ``groups`` has the group of each item.

    Groups, in the order of first appearance, are shuffled and join the test part in turn if they fit into its share of
    all items, rounded up; if none fits, the smallest joins. For editions after v1: this meets the share better than
    splitting the list of groups. Raises DataError if a part would be empty.
    """
    members: dict[Hashable, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    lists = list(members.values())
    _, room = _sizes(len(groups), test_size, None)
    order, _ = split_positions(len(lists), None, len(lists) - 1, seed)
    test: list[int] = []
    for place in order.tolist():
        if len(test) + len(lists[place]) <= room:
            test += lists[place]
    chosen = set(test or sorted(lists, key=len)[0])
    return [position for position in range(len(groups)) if position not in chosen], sorted(chosen)


def split_latest(times: Any, *, test_size: float) -> tuple[list[int], list[int]]:
    """(train, test) positions in ascending order: the test part has the latest of ``times``, a column or sequence.

    Equal times are in one part, so the test share may differ a little; missing ones are for training. Raises DataError
    if a part would be empty.
    """
    import polars as pl

    column = pl.Series(times)
    known = column.drop_nulls().sort()
    _, wanted = _sizes(len(column), test_size, None)
    counts = known.value_counts(name="rows").sort(known.name, descending=True)  # the latest first
    sizes = [0, *counts["rows"].cum_sum().to_list()]
    cut = min(range(len(sizes)), key=lambda place: abs(sizes[place] - wanted))
    if not 0 < sizes[cut] < len(column):
        raise DataError(f"cannot split {len(column)} rows by their times: too many have the same one, or none")
    in_test = (column >= counts[known.name][cut - 1]).fill_null(value=False)
    return (~in_test).arg_true().to_list(), in_test.arg_true().to_list()


def shuffle_rows(table: T, *, seed: int = 0) -> T:
    """The rows of a table in random order, so that their place says nothing."""
    import numpy as np

    return cast("T", _take(table, np.random.RandomState(seed).permutation(len(cast("Sequence[Any]", table)))))


def split_blocks(table: T, by: str, *, test_size: float, seed: int = 0) -> tuple[T, T]:
    """(train, test) rows of a table of pandas or polars, group by group in the shuffled order of the split.

    The groups of column ``by`` are split in ascending order. Within a group rows keep file order. Rows without a group
    are dropped.
    """
    import numpy as np

    codes = _codes(cast("Any", table)[by])
    count = int(codes.max(initial=-1)) + 1
    # consecutive rows of one group are moved together
    starts = np.flatnonzero(np.diff(codes, prepend=-2))
    lengths = np.diff(starts, append=len(codes))
    parts = []
    for groups in split_positions(count, test_size, seed=seed):
        place = np.full(count + 1, count)  # of each group in the part; the last is for rows without a group
        place[groups] = np.arange(len(groups))
        where = place[codes[starts]]
        runs = np.argsort(where, kind="stable")[: (where < count).sum()]
        shifts = starts[runs] - np.cumsum(lengths[runs]) + lengths[runs]
        parts.append(_take(table, np.repeat(shifts, lengths[runs]) + np.arange(lengths[runs].sum())))
    return parts[0], parts[1]


def _codes(values: Any) -> NDArray[np.intp]:
    """The number of each cell's group, in ascending order of groups; -1 if it is missing."""
    import numpy as np

    if hasattr(values, "iloc"):
        import pandas as pd

        return np.asarray(pd.factorize(values, sort=True)[0])
    runs = values.rle().struct.unnest()
    groups = runs.select("value").drop_nulls().unique().sort("value").with_row_index("code")
    codes = runs.join(groups, on="value", how="left", maintain_order="left")["code"]
    return np.repeat(codes.cast(int).fill_null(-1).to_numpy(), runs["len"].to_numpy())


def _sizes(count: int, test_size: float | None, train_size: float | None) -> tuple[int, int]:
    """The numbers of train and test items by scikit-learn's rules."""
    if test_size is None and train_size is None:
        raise TypeError("split needs test_size or train_size")
    for name, size in (("test_size", test_size), ("train_size", train_size)):
        limit = 1.0 if isinstance(size, float) else count
        if size is not None and not 0 < size < limit:
            raise DataError(f"cannot split {count} items with {name}={size}: there must be more items than that")
    n_test = None if test_size is None else _number(test_size, count, math.ceil)
    n_train = None if train_size is None else _number(train_size, count, math.floor)
    if n_train is None:
        n_train = count - cast("int", n_test)
    if n_test is None:
        n_test = count - n_train
    if n_train <= 0 or n_train + n_test > count:
        raise DataError(f"cannot split {count} items into {n_train} for training and {n_test} for testing")
    return n_train, n_test


def _number(size: float, count: int, rounding: Callable[[float], int]) -> int:
    return int(rounding(size * count)) if isinstance(size, float) else int(size)


def _take(items: Any, positions: NDArray[np.signedinteger[Any]]) -> Any:
    if hasattr(items, "iloc"):
        return items.iloc[positions]
    if isinstance(items, Sequence):
        return [items[position] for position in positions.tolist()]
    return items[positions]
