"""Splits are those of scikit-learn, for whatever is split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import split, split_blocks, split_each, split_groups, split_positions

SIZES = [
    {"test_size": 0.1},
    {"test_size": 0.19},
    {"test_size": 0.5},
    {"test_size": 0.14},
    {"test_size": 1},
    {"test_size": 3},
    {"train_size": 0.75},
    {"train_size": 2},
    {"train_size": 2, "test_size": 1},
    {"train_size": 0.3, "test_size": 0.3},
]


pytestmark = pytest.mark.xdist_group("scikit-learn")


def train_test_split(*arrays: Any, **options: Any) -> list[Any]:
    from sklearn import model_selection  # which takes seconds

    return model_selection.train_test_split(*arrays, **options)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", [0, 8, 42])
def test_positions_are_those_of_scikit_learn(sizes: dict[str, float], seed: int) -> None:
    for count in [*range(4, 60), 100, 4750, 10_407]:
        expected = train_test_split(range(count), **sizes, random_state=seed)
        found = split_positions(count, sizes.get("test_size"), sizes.get("train_size"), seed)
        assert [part.tolist() for part in found] == expected, count


def test_sizes_that_scikit_learn_refuses_are_refused() -> None:
    refused = 0
    for count in range(8):
        for test_size in (None, 0, 1, 3, 5, -1, 0.0, 0.1, 0.9, 1.0, 1.5):
            for train_size in (None, 0, 2, 5, 0.05, 0.5, 1.0):
                if test_size is None and train_size is None:
                    continue
                sizes = {"test_size": test_size, "train_size": train_size}
                try:
                    expected = [len(part) for part in train_test_split(range(count), **sizes, random_state=0)]
                except ValueError:
                    refused += 1
                    with pytest.raises(DataError, match=f"{count} items"):
                        split(range(count), **sizes)
                else:
                    assert [len(part) for part in split(range(count), **sizes)] == expected
    assert refused > 100


def test_the_real_sizes_of_spaceship_titanic() -> None:
    assert [len(part) for part in split(range(8693), test_size=0.1)] == [7823, 870]


def test_a_table_keeps_its_index_and_types() -> None:
    table = pd.DataFrame({"a": range(10), "b": list("abcdefghij")}, index=range(100, 110))
    for found, expected in zip(
        split(table, test_size=0.3), train_test_split(table, test_size=0.3, random_state=0), strict=True
    ):
        pd.testing.assert_frame_equal(found, expected)
    for found, expected in zip(
        split(table["b"], test_size=0.3), train_test_split(table["b"], test_size=0.3, random_state=0), strict=True
    ):
        pd.testing.assert_series_equal(found, expected)


def test_arrays_stay_arrays_and_lists_lists() -> None:
    rows = np.arange(20).reshape(10, 2)
    assert (split(rows, test_size=0.3)[1] == train_test_split(rows, test_size=0.3, random_state=0)[1]).all()
    things = [{"n": n} for n in range(10)]
    assert list(split(things, test_size=0.3)) == train_test_split(things, test_size=0.3, random_state=0)


def groups() -> pd.DataFrame:
    rng = np.random.RandomState(1)
    return pd.DataFrame({"place": rng.permutation(rng.randint(0, 12, 80)) * 7, "row": range(80)})


def test_whole_groups_in_file_order() -> None:
    table = groups()
    _, expected = train_test_split(table["place"].unique(), test_size=0.1, random_state=8)
    train, test = split_groups(table, "place", test_size=0.1, seed=8)
    assert set(test["place"]) == set(expected)
    assert test["row"].tolist() == [row for row, place in enumerate(table["place"]) if place in expected]
    assert sorted([*train["row"], *test["row"]]) == list(range(80))
    assert train["row"].is_monotonic_increasing


def test_whole_groups_one_after_another() -> None:
    table = groups()
    pieces = [rows for _, rows in table.groupby("place")]
    for found, expected in zip(
        split_blocks(table, "place", test_size=0.25),
        train_test_split(pieces, test_size=0.25, random_state=0),
        strict=True,
    ):
        pd.testing.assert_frame_equal(found, pd.concat(expected))


def test_each_group_is_split_by_itself() -> None:
    groups = list("ecbdcaedbdceaddeeeeecedee")
    train, test = split_each(groups, test_size=0.2, few=5)
    expected_train, expected_test = [], []
    for group in "ecbda":
        items = [i for i, name in enumerate(groups) if name == group]
        parts = (items[:-1], items[-1:]) if len(items) < 5 else train_test_split(items, test_size=0.2, random_state=0)
        expected_train += parts[0]
        expected_test += parts[1]
    assert (train, test) == (expected_train, expected_test)


def test_a_group_of_one_is_for_training_or_refused() -> None:
    assert split_each("aabbc", test_size=0.2, few=5) == ([0, 2, 4], [1, 3])
    with pytest.raises(DataError, match="cannot split 1 items"):
        split_each("aabbc", test_size=0.2)
