"""Rows in any order, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import RowStore, read_pieces, write_csv
from mlecore_toolkit.prepare import row_store


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": range(1000), "text": [f'"{i}"\r\nétude, {i}' if i % 7 else float("nan") for i in range(1000)]}
    )


@pytest.mark.parametrize("at_once", [1 << 30, 5_000, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("wanted", [1000, 400, 1, 0])
def test_rows_come_in_the_order_asked_for(
    table: pd.DataFrame, tmp_path: Path, wanted: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_store, "_AT_ONCE", at_once)
    monkeypatch.setattr(row_store, "_ROWS", 300)
    write_csv(table, tmp_path / "table.csv")
    order = np.random.RandomState(1).permutation(len(table))[:wanted]
    expected = table.iloc[order].to_csv(index=False).encode()
    with RowStore(read_pieces(tmp_path / "table.csv", rows=90), tmp_path) as rows:
        assert len(rows) == len(table)
        assert (len([*tmp_path.glob("rows-*/*")]) > 1) == (at_once < 1 << 30)
        pieces = list(rows.pieces(order))
        assert max(map(len, pieces)) <= 500
        write_csv(iter(pieces), tmp_path / "pieces.csv")
        write_csv(rows.take(order), tmp_path / "taken.csv")
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "taken.csv").read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pieces.csv", "table.csv", "taken.csv"]


@pytest.mark.parametrize("at_once", [1 << 30, 1])
def test_pieces_of_different_types(tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are written as pandas writes what it concatenates."""
    monkeypatch.setattr(row_store, "_AT_ONCE", at_once)
    parts = [
        pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [True, False], "d": [1e-7, 1e20]}),
        pd.DataFrame({"a": [0.5, None], "b": ["x", None], "c": ["u", "v"], "d": ["", "y"]}),
        pd.DataFrame({"a": [300, 70_000], "b": [7, 8], "c": [True, True], "d": [2.0, 3.5]}),
    ]
    pieces = [
        pl.DataFrame(
            {"a": [1, 2], "b": [1, 2], "c": [True, False], "d": [1e-7, 1e20]}, schema_overrides={"a": pl.Int8}
        ),
        pl.DataFrame({"a": [0.5, None], "b": ["x", None], "c": ["u", "v"], "d": ["", "y"]}),
        pl.DataFrame({"a": [300, 70_000], "b": [7, 8], "c": [True, True], "d": [2.0, 3.5]}),
    ]
    order = np.array([5, 0, 3, 1, 4, 2])
    with RowStore(pieces, tmp_path) as rows:
        write_csv(rows.take(order), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == pd.concat(parts).iloc[order].to_csv(index=False).encode()


def test_rows_that_are_not_there(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": range(1000)})
    with RowStore([table], tmp_path) as rows, pytest.raises(DataError, match="has 1,000 rows, expected 1,001 or more"):
        rows.take(np.array([3, 1000]))


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text('a,b\n1,2\n3,"4\n')
    with pytest.raises(DataError, match=r"table.csv cannot be read as a table"):
        list(read_pieces(tmp_path / "table.csv", rows=1))
    (tmp_path / "table.csv").write_text("")
    with pytest.raises(DataError, match=r"table.csv cannot be read as a table"):
        list(read_pieces(tmp_path / "table.csv"))
    with pytest.raises(DataError, match="is missing"):
        list(read_pieces(tmp_path / "none.csv"))


def test_a_table_without_rows_has_a_header(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n")
    with RowStore(read_pieces(tmp_path / "table.csv"), tmp_path) as rows:
        assert len(rows) == 0
        write_csv(rows.pieces(np.array([], dtype=int)), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "a,b\n"
