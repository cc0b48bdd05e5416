"""Large tables of numbers come out as pandas reads and writes them, whichever way is taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.prepare import fastcsv, numbers, read_numbers, write_csv

ROWS = "".join(f"{row + 1000},{row % 2},{-row * 10**9},{row / 7!r}\n" for row in range(300))


@pytest.fixture(autouse=True)
def always_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "_WORTHWHILE", 0)
    monkeypatch.setattr(numbers, "_SAMPLE", 50)
    monkeypatch.setattr(fastcsv, "_WORTHWHILE", 0)


def written(folder: Path, text: str) -> tuple[bytes, bytes]:
    """The table read and written again, and what pandas makes of it."""
    path, copy = folder / "table.csv", folder / "copy.csv"
    path.write_bytes(text.encode())
    copy.unlink(missing_ok=True)
    write_csv(read_numbers(path), copy)
    return copy.read_bytes(), pd.read_csv(path, float_precision="round_trip").to_csv(index=False).encode()


def test_plain_numbers_are_read_by_polars(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"a,b,c,d\n{ROWS}")
    table = numbers._by_polars(tmp_path / "table.csv")
    assert table is not None
    assert [str(dtype) for dtype in table.dtypes] == ["int64", "int8", "int64", "float64"]
    pd.testing.assert_frame_equal(
        table, pd.read_csv(tmp_path / "table.csv", float_precision="round_trip"), check_dtype=False
    )


def test_random_numbers(tmp_path: Path) -> None:
    rng = np.random.RandomState(1)
    values = rng.standard_normal((2000, 3)) * 10.0 ** rng.randint(-12, 15, (2000, 3))
    table = pd.DataFrame(values, columns=[*"abc"]).assign(d=rng.randint(-(2**63), 2**63, 2000, dtype=np.int64))
    got, expected = written(tmp_path, table.to_csv(index=False))
    assert got == expected == table.to_csv(index=False).encode()
    assert numbers._by_polars(tmp_path / "table.csv") is not None


CELLS = """
    +5 007 -0 0.0 -0.0 1.0 5. .5 1e5 1E5 1e-7 1e400 -1e400 inf -inf nan NaN NA null True 9007199254740993 1_0 0x1f
    9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 99999999999999999999 12345678.9
    0.1234567890123456789 123456789012345678901234567890.5 ٣ x "7" "7.5" "1,2"
""".split()


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("cell", [*CELLS, "", " ", " 7", "7 "])
@pytest.mark.parametrize("column", range(4))
def test_odd_cells(tmp_path: Path, cell: str, column: int, early: bool) -> None:
    """In a column of whole numbers or decimals, among the first rows or far below them."""
    lines = ROWS.splitlines()
    place = 3 if early else 200
    cells = lines[place].split(",")
    cells[column] = cell
    lines[place] = ",".join(cells)
    text = "\n".join(["a,b,c,d", *lines]) + "\n"
    got, expected = written(tmp_path, text)
    assert got == expected


@pytest.mark.parametrize(
    "text",
    [
        "a,b,a\n1,2,3\n",
        ",b\n1,2\n",
        "a,b\r\n1,2\r\n",
        "\ufeffa,b\n1,2\n",
        "a,b\n1,2\n\n3,4\n",
        "a,b\n1\n2,3\n",
        "a,b\n1,2,\n3,4,\n",
        "a\n1\n2\n",
        "a,b\n",
        "a,b\n1,2",
        "a,b\nx,2\n",
    ],
)
def test_odd_tables(tmp_path: Path, text: str) -> None:
    got, expected = written(tmp_path, text)
    assert got == expected


def test_what_is_no_table_is_refused_as_by_pandas(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is missing"):
        read_numbers(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_numbers(tmp_path / "empty.csv")
