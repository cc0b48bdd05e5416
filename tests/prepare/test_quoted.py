"""Large tables of quoted text in pieces: what pandas reads, or nothing."""

from __future__ import annotations

import csv
import io
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from mlecore.errors import DataError
from mlecore.prepare import ZipWriter, quoted
from mlecore.prepare.quoted import quoted_pieces

COLUMNS = {"number": int, "before": str, "after": str}
HEADER = '"number","before","after"\n'
CELLS = [
    *(
        "the",
        "",
        "NA",
        "null",
        "None",
        "nan",
        "<NA>",
        "#N/A N/A",
        "-1.#IND",
        "NAN",
        "none",
        " NA",
        "True",
        "007",
        "1.0",
    ),
    *(
        '"',
        '""',
        "a,b",
        'say "x", y',
        "two\nlines",
        "two\r\nlines",
        "\r",
        "\n",
        '\n7,"x","',
        '"\n',
        "Ærø",
        "日本\U0001f5fe",
    ),
]


def zipped(folder: Path, text: str | bytes) -> Path:
    path = folder / "table.zip"
    path.unlink(missing_ok=True)
    with ZipWriter(path) as archive:
        archive.add("table.csv", text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes) -> pl.DataFrame | None:
    with quoted_pieces(zipped(folder, text), "table.csv", COLUMNS, folder) as pieces:
        frame = None if pieces is None else pl.concat([pl.read_ipc(piece) for piece in pieces])
    assert [path.name for path in folder.iterdir()] == ["table.zip"]
    return frame


def written(rows: list[tuple[object, object, object]]) -> str:
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("size", [30, 200, 1 << 20])
def test_cells_are_those_that_pandas_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(quoted, "_PIECE", size)
    text = written([(n * 10**15, before, after) for n, before in enumerate(CELLS, -3) for after in ("x", before)])
    expected = pd.read_csv(io.StringIO(text, newline="")).fillna("")
    found = read(tmp_path, text)
    assert found is not None
    assert found.to_dict(as_series=False) == expected.to_dict(orient="list")


def test_it_takes_several_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted, "_PIECE", 100)
    path = zipped(tmp_path, written([(n, "big\n\ncat", "x") for n in range(50)]))
    with quoted_pieces(path, "table.csv", COLUMNS, tmp_path) as pieces:
        assert pieces is not None and len(pieces) > 5
        assert pl.concat([pl.read_ipc(piece) for piece in pieces])["number"].to_list() == list(range(50))


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER.replace('"', "") + '1,"cat","cat"\n',
        HEADER + '1,"cat","cat"',
        HEADER + '1,"cat",cat\n',
        HEADER + '1,cat,"cat"\n2,"cat","cat"\n',
        HEADER + '1,"cat", "cat"\n',
        HEADER + '1,"cat","c"at"\n',
        HEADER + '1,"cat","cat\n',
        HEADER + '1,"cat","cat"\r\n',
        HEADER + '\n1,"cat","cat"\n',
        HEADER + '1,"cat","cat","cat"\n',
        HEADER + '1,"cat"\n2,"cat","cat"\n',
        HEADER + '01,"cat","cat"\n',
        HEADER + '+1,"cat","cat"\n',
        HEADER + '1.0,"cat","cat"\n',
        HEADER + ',"cat","cat"\n',
        HEADER + '9223372036854775808,"cat","cat"\n',
        HEADER + '"1","cat","cat"\n',
        HEADER + '1,"c\0at","cat"\n',
        HEADER.encode() + b'1,"c\xffat","cat"\n',
        HEADER.encode("utf-8-sig") + b'1,"cat","cat"\n',
        HEADER + '1,"cat","7"\n2,"cat","8"\n',
        HEADER + '1,"cat","true"\n2,"cat","FALSE"\n',
        HEADER + '1,"cat","NA"\n2,"cat",""\n',
        HEADER + '1,"cat","Infinity"\n2,"cat","-inf"\n',
    ],
)
def test_what_pandas_might_read_otherwise_is_left_to_pandas(tmp_path: Path, text: str | bytes) -> None:
    assert read(tmp_path, text) is None


@pytest.mark.parametrize("rows", [262_143, 262_144, 262_145])
def test_types_are_guessed_where_pandas_guesses_them(tmp_path: Path, rows: int) -> None:
    """With three columns pandas guesses 262,144 rows at a time: a last row by itself is a number."""
    text = HEADER + '1,"cat","cat"\n' * rows + '1,"cat","007"\n'
    with pytest.warns() if rows == 262_144 else nullcontext():
        guessed = pd.read_csv(io.StringIO(text))["after"].iloc[-1]
    assert (read(tmp_path, text) is None) == (guessed == 7) == (rows == 262_144)


def test_a_stray_quote_in_a_long_table_costs_no_time(tmp_path: Path) -> None:
    text = HEADER + '1,"c"at","cat"\n' + '1,"cat","cat"\n' * 200_000
    assert read(tmp_path, text) is None


def test_what_is_no_archive_or_lacks_the_table_is_said(tmp_path: Path) -> None:
    path = zipped(tmp_path, HEADER)
    with pytest.raises(DataError, match=r"no member other\.csv"), quoted_pieces(path, "other.csv", COLUMNS, tmp_path):
        pass
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="cannot be read as a zip"), quoted_pieces(path, "x", COLUMNS, tmp_path):
        pass
