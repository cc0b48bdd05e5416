"""Rows in another order, without the whole table in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.prepare import read_pieces, rows_in_order, write_csv


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": range(1000), "text": [f'"{i}"\r\nétude, {i}' if i % 7 else float("nan") for i in range(1000)]}
    )


@pytest.mark.parametrize(("rows", "wanted"), [(1, 5), (13, 1000), (100, 400), (5000, 999), (10, 0)])
def test_rows_come_in_the_order_asked_for(table: pd.DataFrame, tmp_path: Path, rows: int, wanted: int) -> None:
    write_csv(table, tmp_path / "table.csv")
    order = np.random.RandomState(1).permutation(len(table))[:wanted]
    pieces = read_pieces(tmp_path / "table.csv", rows=90)
    found = list(rows_in_order(pieces, order, tmp_path, rows=rows))
    assert all(len(piece) <= rows for piece in found)
    assert [name for piece in found for name in piece["id"]] == order.tolist()
    if found:
        pd.testing.assert_frame_equal(pd.concat(found), table.iloc[order])
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_rows_that_are_not_there(table: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 1,000 rows, expected 1,001 or more"):
        list(rows_in_order([table], np.array([3, 1000]), tmp_path))


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text('a,b\n1,2\n3,"4\n')
    with pytest.raises(DataError, match=r"table.csv cannot be read as a table"):
        list(read_pieces(tmp_path / "table.csv", rows=1))
    with pytest.raises(DataError, match="is missing"):
        list(read_pieces(tmp_path / "none.csv"))
