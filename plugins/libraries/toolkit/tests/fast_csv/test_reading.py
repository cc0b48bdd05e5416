"""Large tables are read as pandas reads them, whichever way is taken."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import read_csv, read_pieces, read_table, write_csv
from mlecore_toolkit.fast_csv import frames, parsing, reading
from mlecore_toolkit.fast_csv.options import Options

ROWS = "".join(f"{row + 1000},{row % 2},{-row * 10**9},{row / 7!r}\n" for row in range(300))


@pytest.fixture(autouse=True)
def always_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "POLARS_FROM_BYTES", 0)
    monkeypatch.setattr(parsing, "_SAMPLES", (300, 1000))
    monkeypatch.setattr(reading, "_AT_ONCE", 3000)
    monkeypatch.setattr(reading, "_PIECE", 3000)


def written(folder: Path, text: str) -> tuple[bytes, bytes]:
    """The table read and written again, and what pandas makes of it."""
    path, copy = folder / "table.csv", folder / "copy.csv"
    path.write_bytes(text.encode())
    copy.unlink(missing_ok=True)
    write_csv(read_table(path), copy)
    return copy.read_bytes(), pd.read_csv(path, float_precision="round_trip").to_csv(index=False).encode()


def fast(path: Path, **options: Any) -> bool:
    """Is the table, or the first piece of it, read by polars?"""
    known = Options.of(options)
    assert known is not None
    with path.open("rb") as stream:
        return reading.read(stream, known) is not None


def test_plain_numbers_are_read_by_polars(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"a,b,c,d\n{ROWS}")
    table = read_table(tmp_path / "table.csv")
    assert [str(dtype) for dtype in table.dtypes] == ["Int32", "Int8", "Int64", "Float64"]
    expected = pd.read_csv(tmp_path / "table.csv", float_precision="round_trip")
    pd.testing.assert_frame_equal(frames.to_pandas(table), expected)


def test_random_numbers(tmp_path: Path) -> None:
    rng = np.random.RandomState(1)
    values = rng.standard_normal((2000, 3)) * 10.0 ** rng.randint(-12, 15, (2000, 3))
    table = pd.DataFrame(values, columns=[*"abc"]).assign(d=rng.randint(-(2**63), 2**63, 2000, dtype=np.int64))
    got, expected = written(tmp_path, table.to_csv(index=False))
    assert got == expected == table.to_csv(index=False).encode()
    assert fast(tmp_path / "table.csv")


ODD_NUMBERS = """
    +5 007 -0 0.0 -0.0 1.0 5. .5 1e5 1E5 1e-7 1e400 -1e400 inf -inf nan NaN NA null True 9007199254740993 1_0 0x1f
    9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 99999999999999999999 12345678.9
    0.1234567890123456789 123456789012345678901234567890.5 ٣ x "7" "7.5" "1,2"
""".split()


def shared_out(*dimensions: Sequence[Any]) -> list[Any]:
    """All combinations; in the short lane only those in which each value meets each of another dimension once or more.

    The last dimension is the shortest: it goes round while the others are combined.
    """
    return [
        pytest.param(*values, marks=() if sum(places) % len(dimensions[-1]) == 0 else pytest.mark.slow)
        for places, values in zip(
            itertools.product(*(range(len(each)) for each in dimensions)), itertools.product(*dimensions), strict=True
        )
    ]


@pytest.mark.parametrize(
    ("cell", "column", "early"), shared_out([*ODD_NUMBERS, "", " ", " 7", "7 "], range(4), [True, False])
)
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


TEXT = "".join(
    f'{row},w{row % 3},"a ""b"", {row}\n\nc\r\n",{row / 7!r},{"" if row % 5 else row},{row % 2 == 0},NA\n'
    for row in range(300)
).replace("NA\n", "x\n", 100)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"usecols": ["text", "id"]},
    {"dtype": str},
    {"dtype": str, "na_filter": False},
    {"dtype": {"id": str, "gaps": str}},
    {"dtype": {"id": "int32", "part": "float64"}},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_text_and_numbers(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(f"id,few,text,part,gaps,truth,last\n{TEXT}".encode())
    expected = pd.read_csv(path, float_precision="round_trip", **options)
    pd.testing.assert_frame_equal(read_csv(path, **options), expected)
    assert fast(path, **options)
    pieces = list(read_pieces(path, rows=50, **options))
    assert len(pieces) > 2
    assert max(map(len, pieces)) <= 50
    write_csv(iter(pieces), tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == expected.to_csv(index=False).encode()


ODD_TEXTS = ['x"y', '"x"y', '"x" ', "x\ry", "", "   ", "x,y", "x,y,z,u,v,w,x,y", '"', "\0", "٣", "-0", "1e400", "True"]


@pytest.mark.parametrize(("odd", "column", "row"), shared_out(ODD_TEXTS, range(6), [1, 60, 290]))
def test_odd_cells_beside_text(tmp_path: Path, odd: str, column: int, row: int) -> None:
    lines = [f"{row},w{row % 3},{row / 7!r},{'' if row % 5 else row},{row % 2 == 0},é\n" for row in range(300)]
    cells = lines[row][:-1].split(",")
    lines[row] = ",".join([*cells[:column], odd, *cells[column + 1 :]]) + "\n"
    path = tmp_path / "table.csv"
    path.write_bytes(("id,few,part,gaps,truth,last\n" + "".join(lines)).encode())
    try:
        expected = pd.read_csv(path, float_precision="round_trip")
    except pd.errors.ParserError:
        for read in (read_csv, lambda path: list(read_pieces(path))):
            with pytest.raises(DataError):
                read(path)
        return
    pd.testing.assert_frame_equal(read_csv(path), expected)
    pieces = list(read_pieces(path))
    assert sum(map(len, pieces)) == len(expected)
    assert all(piece.columns == list(expected.columns) for piece in pieces)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["7", "07", "7.50", "True", "", "x"])
def test_blocks_of_rows_that_pandas_types_by_themselves(
    tmp_path: Path, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is so wide that pandas types 1,024 rows at a time: numbers alone are numbers in a column of text."""
    path = tmp_path / "table.csv"
    monkeypatch.setattr(reading, "_AT_ONCE", 100_000)
    others = ",0" * 1000
    lines = [f"{'x' if row < 1024 else cell}{others}\n" for row in range(1030)]
    path.write_text("a," + ",".join(f"b{place}" for place in range(1000)) + "\n" + "".join(lines))
    expected = pd.read_csv(path, float_precision="round_trip")
    pd.testing.assert_frame_equal(read_csv(path), expected)
    assert fast(path) == (cell == "x")


@pytest.mark.parametrize(
    ("first", "then", "dtype"),
    [("0.5", "7", "Float64"), ("x", "7", "Int8"), ("7", "0.5", "Float64"), ("7", "x", "String")],
)
def test_pieces_keep_their_types_where_they_can(tmp_path: Path, first: str, then: str, dtype: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + f"{first},1000\n" * 2000 + f"{then},1000\n" * 2000)
    pieces = list(read_pieces(path))
    assert len(pieces) > 3
    assert str(pieces[-1]["a"].dtype) == dtype
    assert sum(map(len, pieces)) == 4000


def test_missing_cells_are_those_of_pandas() -> None:
    from pandas._libs.parsers import STR_NA_VALUES

    assert set(parsing.MISSING) == STR_NA_VALUES


def test_what_is_no_table_is_refused_as_by_pandas(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is missing"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(DataError, match="cannot be read as a table"):
        read_table(tmp_path / "empty.csv")


CELLS = {
    "whole": ["0", "1", "-1", "007", "9007199254740993", "9223372036854775807", "9223372036854775808", "-0"],
    "decimal": ["0.1", "1.0", "-0.0", "1e5", ".5", "5.", "1e400", "inf", "nan", "0.30000000000000004", "2.5e-320"],
    "text": ["a", "b c", "é", "NA", "null", "true", "False", "", "  x", " ", "1a", '"x,y"', '"q""q"', '"l\nb"', "-"],
    "truth": ["True", "False", "TRUE", ""],
    "gap": ["", " ", "NA", '"NA"', '""'],
}  # fmt: skip


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 200, 300))])
def test_tables_of_random_cells(tmp_path: Path, first: int) -> None:
    """Where polars reads a table, its values, their types and their bits are those of pandas."""
    path, read = tmp_path / "table.csv", 0
    for seed in range(first, first + 100):
        draw = random.Random(seed)
        columns = [
            draw.sample(pool, draw.randint(1, 4))
            for kinds in (draw.choices([*CELLS], k=draw.choice((1, 1, 2))) for _ in range(draw.randint(2, 4)))
            for pool in [[cell for kind in kinds for cell in CELLS[kind]]]
        ]
        rows = [",".join(map(draw.choice, columns)) for _ in range(draw.choice((1, 5, 200)))]
        path.write_text("\n".join([",".join("abcd"[: len(columns)]), *rows, ""]), newline="")
        with path.open("rb") as stream:
            table = frames.read(stream, Options())
        if table is not None:
            read += 1
            expected = pd.read_csv(path, float_precision="round_trip")
            pd.testing.assert_frame_equal(table, expected, check_exact=True, obj=f"seed {seed}")
            assert table.to_csv() == expected.to_csv(), seed
        got, expected = written(tmp_path, path.read_bytes().decode())
        assert got == expected, seed
    assert read > 10


def test_records_larger_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for cell in ("x" * 20_000, f'"{"x" * 2000}\n{"y" * 20_000}"', '"' + "\n" * 20_000 + '"'):
        path.write_text(f"a,b\n1,x\n2,{cell}\n3,y\n" + "4,z\n" * 2000, newline="")
        with path.open("rb") as stream:
            table = frames.read(stream, Options())
        pd.testing.assert_frame_equal(table, pd.read_csv(path))


@pytest.mark.parametrize("blanks", ["", " ", "\t", " " * 8, " " * 30])
@pytest.mark.parametrize("marks", ["", '"'])
def test_blanks_among_numbers_are_text(tmp_path: Path, blanks: str, marks: str) -> None:
    cell = f"{marks}{blanks}{marks}"
    rows = ["a,b,c", *["1.5,2,x y"] * 50, f"1.5,{cell},x", "1.5,,x", ""]
    got, expected = written(tmp_path, "\n".join(rows))
    assert got == expected
    assert fast(tmp_path / "table.csv") == (not blanks)
