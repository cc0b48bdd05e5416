"""A column of lists behaves in a table like one of objects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlecore.submissions.lists import Lists, lists_of

CELLS = [[1, 2], [], [3], [4, 5, 6], []]


@pytest.fixture
def column() -> Lists:
    """Its cells lie in another order than they stand."""
    parts = [([3, 1], np.array([3, 0]), np.array([4, 5, 6])), ([0, 2, 4], np.array([2, 1, 0]), np.array([1, 2, 3]))]
    return lists_of(parts, np.concatenate)


def lists(cells: object) -> list[list[int]]:
    return [cell.tolist() for cell in cells]  # type: ignore[attr-defined]


def test_cells(column: Lists) -> None:
    assert lists(column) == CELLS and column[3].tolist() == [4, 5, 6] and len(column) == 5
    assert column.counts().tolist() == [2, 0, 1, 3, 0] and column.joined().tolist() == [1, 2, 3, 4, 5, 6]
    assert column[:0].joined().tolist() == column[[1, 4]].joined().tolist() == []
    assert column[2:4].joined().tolist() == [3, 4, 5, 6]
    assert np.asarray(column[[0, 0]]).shape == (2,)  # of lists, though they are equally long


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [0, 0, 3], []])
def test_in_a_table(column: Lists, order: list[int]) -> None:
    table = pd.DataFrame({"id": range(5)}).assign(x=column)
    taken = table.iloc[order].reset_index(drop=True)
    assert lists(taken["x"]) == [CELLS[place] for place in order]
    assert taken["x"].array.joined().tolist() == [item for place in order for item in CELLS[place]]
    assert lists(table[table["id"] > 1].head(2)["x"]) == CELLS[2:4]
    assert lists(table.sort_values("id", ascending=False)["x"].tolist()) == CELLS[::-1]
    assert not table["x"].isna().any()
    with pytest.raises(ValueError, match="missing"):
        table["x"].reindex([0, 9])
