"""Large tables of quoted text as bytes: what pandas reads and writes, or nothing."""

from __future__ import annotations

import csv
import io
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import pytest
from mle_lib_text_normalization import quoted
from mle_lib_text_normalization.quoted import Rows, Unlike, quoted_rows

from mlecore.errors import DataError
from mlecore_toolkit import ZipWriter

COLUMNS = ["number", "place", "before", "after"]
HEADER = '"number","place","before","after"\n'
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


def read(folder: Path, text: str | bytes) -> list[Rows] | None:
    try:
        return list(quoted_rows(zipped(folder, text), "table.csv", COLUMNS))
    except Unlike:
        return None


def written(rows: list[tuple[object, ...]]) -> str:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    text = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert isinstance(text, str)
    return text


def again(text: str | bytes) -> bytes:
    """What pandas makes of a table, without its header."""
    frame = pd.read_csv(io.BytesIO(text.encode() if isinstance(text, str) else text))
    written = frame.to_csv(index=False, header=False, quoting=csv.QUOTE_NONNUMERIC)
    assert isinstance(written, str)
    return written.encode()


@pytest.mark.parametrize("size", [30, 200, 1 << 20])
def test_rows_are_those_that_pandas_writes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(quoted, "_PIECE", size)
    text = written([(n * 999, 10**16 * n, a, b) for n, a in enumerate(CELLS) for b in ("x", a)])
    found = read(tmp_path, text)
    assert found is not None
    assert b"".join(rows.text for rows in found).replace(b"\0", b"") == again(text)
    frame = pd.read_csv(io.StringIO(text, newline="")).fillna("")
    for column, name in enumerate(("before", "after")):
        cells = [cell.decode().replace("\0", "") for rows in found for cell in rows.cells(column)]
        assert [cell[1:-1].replace('""', '"') for cell in cells] == frame[name].to_list()


def test_runs_are_rows_of_one_number(tmp_path: Path) -> None:
    numbers = [7, 7, 77, 7, 7, 12345678, 12345678, 2345678, 0, 0]
    found = read(tmp_path, written([(number, n, "cat", "cat") for n, number in enumerate(numbers)]))
    assert found is not None and len(found) == 1
    assert found[0].runs().tolist() == [0, 2, 3, 5, 7, 8]
    assert [found[0].text[a:b] for a, b in zip(found[0].starts, found[0].commas, strict=False)] == [
        str(number).encode() for number in numbers
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER.replace('"', "") + '1,0,"cat","cat"\n',
        HEADER + '1,0,"cat","cat"',
        HEADER + '1,0,"cat",cat\n',
        HEADER + '1,0,cat,"cat"\n2,0,"cat","cat"\n',
        HEADER + '1,0,"cat", "cat"\n',
        HEADER + '1,0,"cat","c"at"\n',
        HEADER + '1,0,"cat","cat\n',
        HEADER + '1,0,"cat","cat"\r\n',
        HEADER + '\n1,0,"cat","cat"\n',
        HEADER + '1,0,"cat","cat","cat"\n',
        HEADER + '1,0,"cat"\n2,0,"cat","cat","cat"\n',
        HEADER + '01,0,"cat","cat"\n',
        HEADER + '+1,0,"cat","cat"\n',
        HEADER + '1.0,0,"cat","cat"\n',
        HEADER + ',0,"cat","cat"\n',
        HEADER + '1;0,"cat","cat"\n',
        HEADER + '123456789,0,"cat","cat"\n',
        HEADER + '1,9223372036854775808,"cat","cat"\n',
        HEADER + '"1",0,"cat","cat"\n',
        HEADER + '1,0,"c\0at","cat"\n',
        HEADER.encode() + b'1,0,"c\xffat","cat"\n',
        HEADER.encode("utf-8-sig") + b'1,0,"cat","cat"\n',
        HEADER + '1,0,"cat","7"\n2,0,"cat","8"\n',
        HEADER + '1,0,"cat","true"\n2,0,"cat","FALSE"\n',
        HEADER + '1,0,"cat","NA"\n2,0,"cat",""\n',
        HEADER + '1,0,"cat","Infinity"\n2,0,"cat","-inf"\n',
    ],
)
def test_what_pandas_might_read_otherwise_is_left_to_pandas(tmp_path: Path, text: str | bytes) -> None:
    assert read(tmp_path, text) is None


@pytest.mark.parametrize("rows", [131_071, 131_072, 131_073])
def test_types_are_guessed_where_pandas_guesses_them(tmp_path: Path, rows: int) -> None:
    """With four columns pandas guesses 131,072 rows at a time: a last row by itself is a number."""
    text = HEADER + '1,0,"cat","cat"\n' * rows + '1,0,"cat","007"\n'
    with pytest.warns() if rows == 131_072 else nullcontext():
        guessed = pd.read_csv(io.StringIO(text))["after"].iloc[-1]
    assert (read(tmp_path, text) is None) == (guessed == 7) == (rows == 131_072)


def test_what_is_no_archive_or_lacks_the_table_is_reported(tmp_path: Path) -> None:
    path = zipped(tmp_path, HEADER)
    with pytest.raises(DataError, match=r"no member other\.csv"):
        next(quoted_rows(path, "other.csv", COLUMNS))
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="is no zip archive"):
        next(quoted_rows(path, "x", COLUMNS))
