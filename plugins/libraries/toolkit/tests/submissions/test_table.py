"""A submission is read as pandas 2 reads it, and what is no table is rejected."""

import random
from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.table import Table


@pytest.fixture
def table(tmp_path: Path):
    def write(content: str | bytes) -> Table:
        path = tmp_path / "submission.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Table(path)

    return write


def test_typed_by_column(table):
    frame = table("a,b,c,d\n1,0.1,True,NA\n2,x,False,\n").frame()
    assert [str(dtype) for dtype in frame.dtypes] == ["int64", "object", "bool", "float64"]


def test_floats_round_trip(table):
    assert table("x\n0.30000000000000004\n").frame()["x"][0] == 0.30000000000000004


def test_empty_files_have_no_columns(table):
    for content in ("", "\n\n", " \n"):
        assert list(table(content).frame().columns) == []


def test_first_cells_name_the_rows_where_the_header_is_too_short(table):
    assert list(table("a,b\nx,1,2\n").frame().index) == ["x"]


@pytest.mark.filterwarnings("error")
def test_types_chunk_by_chunk_without_a_word(table):
    wide = "," * 500  # pandas takes a power of two of rows at a time, at most 2^20 cells
    frame = table(f"x{wide}\n" + f"1{wide}\n" * 2048 + f"word{wide}\n").frame()
    assert {type(value) for value in frame["x"]} == {int, str}


def test_text_is_every_cell_as_written(table):
    assert table('a,b\n007,NA\n1.0\n"",x\n').text().to_numpy().tolist() == [["007", "NA"], ["1.0", ""], ["", "x"]]


@pytest.mark.parametrize("content", ["a\n1,2\n1,2,3\n", 'a\n"1\n', b"a\n\xff\n"])
def test_no_table(table, content):
    with pytest.raises(InvalidSubmission, match=r"^submission\.csv cannot be read as a CSV table: .*\w\Z"):
        table(content).frame()


def test_lack_of_memory_is_our_fault(table, monkeypatch):
    def read_csv(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

    monkeypatch.setattr(pd, "read_csv", read_csv)
    with pytest.raises(MemoryError):
        table("a\n").frame()


def test_read_once(table):
    read = table("a\n1\n")
    assert read.frame() is read.frame()
    assert read.text() is read.text()


LINES = ("1,2", "", " ", "\t \t", " 3,4 ", "5", "\v", "\f,\f", ",", "é,ü")


@pytest.mark.parametrize("seed", range(60))
def test_rows_are_counted_without_parsing_as_pandas_counts_them(table, monkeypatch, seed):
    draw = random.Random(seed)
    text = "".join(draw.choice(LINES) + draw.choice(("\n", "\r\n")) for _ in range(draw.randrange(1, 30)))
    whole = draw.choice(("", "\ufeff")) + draw.choice(("", "\n")) + "a,b\n" + text + draw.choice(("", "7,8", "  "))
    monkeypatch.setattr("mlecore_toolkit.submissions.table.HEAVY", 1)
    for size in (1, 2, 1 << 20):
        monkeypatch.setattr("mlecore_toolkit.submissions.table._CHUNK", size)
        assert table(whole).heavy_rows() == len(table(whole).frame())


def test_rows_are_not_counted_where_that_takes_parsing(table, monkeypatch):
    assert table("a\n1\n").heavy_rows() is None
    monkeypatch.setattr("mlecore_toolkit.submissions.table.HEAVY", 1)
    assert table("a\n1\n").heavy_rows() == 1
    assert table('a\n"1\n2"\n').heavy_rows() is None
    assert table("a\n1\r2\n").heavy_rows() is None
    assert table("\n\n").heavy_rows() is None


def test_one_column_s_text_is_that_of_the_whole(table):
    for text in ("a,b\n01,x\n,NA\n", "a,b\n01,x,y\n2,z,w\n"):
        assert table(text).column_text("a").tolist() == table(text).text()["a"].tolist()
