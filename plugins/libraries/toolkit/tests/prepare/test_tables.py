"""Tables are read and written with pandas' bytes, whichever way is taken."""

from __future__ import annotations

import csv
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import ZipWriter, read_csv, write_csv
from mlecore_toolkit.fast_csv import frames, writing
from mlecore_toolkit.prepare import tables

TEXTS = [
    "plain",
    "a,b",
    'say "hi"',
    "two\nlines",
    "",
    " blanks ",
    "é",
    "天野",
    "#x",
    "NA",
    "0",
    "1e5",
    "a\tb",
    "'",
    "\\",
    "\x00",
]
NUMBERS = [0.0, -0.0, 1.0, 0.1, 1 / 3, 1e-5, 1e-4, 9.5e-7, 1e16, 1e15, 123456789012345680.0, 1e22, 1e300, 5e-324]
NUMBERS += [2**-44, 0.30000000000000004, -2.5, float("nan"), float("inf"), float("-inf")]


def frame(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.RandomState(seed)
    texts = np.array([*TEXTS, None, np.nan, pd.NA], dtype=object)
    return pd.DataFrame(
        {
            "id": [f"{i}_x" for i in range(rows)],
            "text": texts[rng.randint(0, len(texts), rows)],
            "number": np.array(NUMBERS)[rng.randint(0, len(NUMBERS), rows)],
            "random": rng.standard_normal(rows) * 10.0 ** rng.randint(-12, 20, rows),
            "whole": rng.randint(-5, 5, rows),
            "unsigned": np.full(rows, 2**64 - 1, dtype=np.uint64),
            "truth": rng.rand(rows) < 0.5,
        }
    )


@pytest.fixture
def always_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_POLARS_FROM_CELLS", 0)
    monkeypatch.setattr(tables, "_ROWS", 70)


def as_pandas(table: pd.DataFrame, **options: object) -> bytes:
    return table.to_csv(index=False, **options).encode()


def fast(table: pd.DataFrame, quoting: int = csv.QUOTE_MINIMAL) -> bool:
    """Does polars write it?"""
    known = frames.to_polars(table, mixed=quoting == csv.QUOTE_MINIMAL)
    return known is not None and writing.lines(known, quoting) is not None


@pytest.mark.parametrize("seed", range(5))
def test_fast_lines_are_those_of_pandas(tmp_path: Path, always_fast: None, seed: int) -> None:
    table = frame(300, seed)
    assert fast(table)
    write_csv(table, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == as_pandas(table)


def test_fast_lines_with_all_text_quoted(tmp_path: Path, always_fast: None) -> None:
    table = frame(300)[["id", "whole", "text"]]
    assert fast(table, csv.QUOTE_NONNUMERIC)
    write_csv(table, tmp_path / "x.csv", quoting=csv.QUOTE_NONNUMERIC)
    assert (tmp_path / "x.csv").read_bytes() == as_pandas(table, quoting=csv.QUOTE_NONNUMERIC)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"one": ["", "x", None]}),  # a line of one empty cell is quoted
        pd.DataFrame({"a": ["lone\rreturn", "x"], "b": [1, 2]}),
        pd.DataFrame({"a": [True, False, None], "b": [1, 2, 3]}, dtype=object),
        pd.DataFrame({"a": ["x", 1.0, None], "b": [1, 2, 3]}),
        pd.DataFrame({"a": np.array([0.1, 1e-9], dtype=np.float32), "b": [1, 2]}),
        pd.DataFrame({"a": pd.Categorical(["x", "y"]), "b": [1, 2]}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01", None]), "b": [1, 2]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.5, 2]}),
        pd.DataFrame({"a": [None, None], "b": [1, 2]}),
        pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]),
        pd.DataFrame({"a,b": ["x"], 'c"d': [1]}),
        pd.DataFrame({"a": [], "b": []}),
        pd.DataFrame(),
    ],
)
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
def test_everything_else_is_left_to_pandas(
    tmp_path: Path, always_fast: None, table: pd.DataFrame, quoting: int
) -> None:
    write_csv(table, tmp_path / "x.csv", quoting=quoting)
    assert (tmp_path / "x.csv").read_bytes() == as_pandas(table, quoting=quoting)


def test_a_large_table_takes_the_fast_way_by_itself(tmp_path: Path) -> None:
    table = frame(30_000)
    assert table.size >= tables._POLARS_FROM_CELLS
    write_csv(table, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == as_pandas(table)


def test_pieces_and_float_format(tmp_path: Path) -> None:
    table = frame(10)
    write_csv((table.iloc[i : i + 3] for i in range(0, 10, 3)), tmp_path / "x.csv", float_format="%.10g")
    assert (tmp_path / "x.csv").read_bytes() == as_pandas(table, float_format="%.10g")


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("raw")
    os.link(tmp_path / "raw.csv", tmp_path / "x.csv")
    with pytest.raises(DataError, match=r"x\.csv already exists"):
        write_csv(frame(1), tmp_path / "x.csv")
    assert (tmp_path / "raw.csv").read_text() == "raw"


def test_a_member_of_a_zip_is_written_and_read(tmp_path: Path) -> None:
    table = frame(50)[["id", "random", "whole"]]
    with ZipWriter(tmp_path / "x.zip") as archive, archive.open("x.csv") as member:
        write_csv(table, member)
    assert zipfile.ZipFile(tmp_path / "x.zip").read("x.csv") == as_pandas(table)
    pd.testing.assert_frame_equal(read_csv(tmp_path / "x.zip", member="x.csv"), table, check_exact=True)


def test_reading_rounds_exactly_by_default(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n" + "\n".join(f"{i * 1.1e-7 + 37.9:.17f}" for i in range(500)))
    exact, plain = read_csv(tmp_path / "x.csv"), read_csv(tmp_path / "x.csv", float_precision=None)
    assert exact["a"].tolist() == [float(line) for line in (tmp_path / "x.csv").read_text().split()[1:]]
    assert plain["a"].tolist() == pd.read_csv(tmp_path / "x.csv")["a"].tolist() != exact["a"].tolist()


@pytest.mark.parametrize("content", [None, b"", b'a,b\n1,"2\n', b"a\n\xff\n"])
def test_what_is_no_table_is_a_data_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.csv"):
        read_csv(tmp_path / "x.csv")
