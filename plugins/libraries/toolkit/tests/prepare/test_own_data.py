from __future__ import annotations

import gzip
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import copy_raw_data, read_cells, shuffle_rows, split_latest


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_cells_of_a_csv_are_as_written(delimiter: str, tmp_path: Path) -> None:
    rows = [["a", '"b,;c"', "d"], ["007", "NA", "1.50"], ["", '"x,;y"', "é"]]
    text = "".join(delimiter.join(row) + "\n" for row in rows).encode()
    (tmp_path / "t.csv").write_bytes(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text))
    for name in ("t.csv", "t.csv.gz"):
        table = read_cells(tmp_path / name, separator=delimiter)
        assert table.rows() == [("007", "NA", "1.50"), ("", "x,;y", "é")]
        assert table.columns == ["a", "b,;c", "d"]


def test_decimal_commas_become_points_in_columns_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("x;y\n1,50;a,b é\n-3;1,5\n;\n".encode("cp1252"))
    table = read_cells(tmp_path / "t.csv", separator=";", encoding="cp1252", decimal=",")
    assert table.rows() == [("1.50", "a,b é"), ("-3", "1,5"), ("", "")]


def test_cells_of_parquet_are_those_that_pandas_prints(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "n": [1, None],
            "x": [0.5, float("nan")],
            "b": [True, None],
            "d": [date(2024, 2, 1), None],
            "s": ["007", None],
            "t": [datetime(2024, 2, 1, 12, 30), None],
        }
    ).write_parquet(tmp_path / "t.parquet")
    assert read_cells(tmp_path / "t.parquet").rows() == [
        ("1", "0.5", "True", "2024-02-01", "007", "2024-02-01 12:30:00"),
        ("",) * 6,
    ]


def test_parquet_with_lists_is_an_error_that_names_the_column(tmp_path: Path) -> None:
    pl.DataFrame({"boxes": [[1, 2]]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="boxes"):
        read_cells(tmp_path / "t.parquet")


def test_the_test_part_is_later_and_ties_stay_together() -> None:
    times = [3, 1, None, 4, 4, 2, 5, 1, 4, 0]
    assert split_latest(times, test_size=0.2) == ([0, 1, 2, 3, 4, 5, 7, 8, 9], [6])
    assert split_latest(times, test_size=0.3) == ([0, 1, 2, 5, 7, 9], [3, 4, 6, 8])
    with pytest.raises(DataError, match="same one"):
        split_latest([7] * 10, test_size=0.2)


def test_shuffled_rows_are_the_same_rows() -> None:
    table = pl.DataFrame({"x": range(100)})
    assert shuffle_rows(table)["x"].to_list() != list(range(100))
    assert shuffle_rows(table).sort("x").equals(table)


def test_raw_data_are_copied_from_their_place_or_the_package(tmp_path: Path) -> None:
    package, raw, place = (tmp_path / name for name in ("package", "raw", "place"))
    for folder in (package, raw, place / "scans" / "a"):
        folder.mkdir(parents=True)
    (place / "t.csv").write_text("there")
    (place / "scans" / "a" / "1.png").write_text("scan")
    with pytest.raises(DataError, match=r"not on this machine: t\.csv"):
        copy_raw_data(package, raw, ["t.csv"])
    (package / "raw_data.txt").write_text(f"{place / 't.csv'}\n{place / 'scans'}\n")
    copy_raw_data(package, raw, ["t.csv", "scans"])
    assert (raw / "scans" / "a" / "1.png").read_text() == "scan"
    (raw / "t.csv").chmod(0o400)
    assert (place / "t.csv").stat().st_mode & 0o200
    (package / "raw_data").mkdir()
    (package / "raw_data" / "t.csv").write_text("included")
    (raw / "t.csv").unlink()
    copy_raw_data(package, raw, ["t.csv"])
    assert (raw / "t.csv").read_text() == "included"
