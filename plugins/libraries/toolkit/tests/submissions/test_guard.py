"""Hostile files are rejected before parsing, fast, small, and with a reason; ordinary ones pass."""

import gzip
import io
import os
import resource
import socket
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions import guard as guard_module
from mlecore_toolkit.submissions import guard as module
from mlecore_toolkit.submissions.guard import guard


def refused(path: Path, sample: Path | None = None) -> str:
    """Why; in little CPU time and memory."""
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(InvalidSubmission) as caught:
        guard(path, sample)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - begun < 5
    assert peak < 400 * 2**20
    return str(caught.value)


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    return tmp_path / "submission.csv"


def test_ordinary_files_pass(submission):
    for content in (b"", b"id,p\n", b"id,p\r\na,1\r\n", b"\xef\xbb\xbfid\n" + "é天".encode() * 10**6, b"\n" * 10**6):
        submission.write_bytes(content)
        guard(submission)


def test_missing(tmp_path):
    assert "there is no file" in refused(tmp_path / "none.csv")
    assert "there is no file" in refused(tmp_path / "none" / "none.csv")


def test_not_a_regular_file(tmp_path, submission):
    assert "is a directory" in refused(tmp_path)
    os.mkfifo(submission)
    assert "is a named pipe" in refused(submission)
    assert "is a device" in refused(Path("/dev/zero"))
    bound = socket.socket(socket.AF_UNIX)
    place = Path.cwd()
    try:
        os.chdir(tmp_path)  # a socket's path must be short
        bound.bind("socket")
    finally:
        os.chdir(place)
        bound.close()
    assert "is a socket" in refused(tmp_path / "socket")


def test_symbolic_links_even_to_good_files(tmp_path, submission):
    good = tmp_path / "good.csv"
    good.write_text("id\n")
    submission.symlink_to(good)
    assert "is a symbolic link" in refused(submission)
    submission.unlink()
    submission.symlink_to(submission)
    assert "is a symbolic link" in refused(submission)


def test_a_link_put_there_between_look_and_open(tmp_path, submission, monkeypatch):
    good = tmp_path / "good.csv"
    good.write_text("id\n")
    submission.symlink_to(good)
    monkeypatch.setattr(module.os, "lstat", os.stat)
    assert "is a symbolic link" in refused(submission)


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_sparse_file_of_ten_gigabytes(submission):
    sparse(submission, 10 * 2**30)
    assert "10,737,418,240 bytes; at most 67,108,864" in refused(submission)
    assert "at most 1,000,000,000" in refused(submission, sparse(submission.with_name("sample.csv"), 10**8))


def test_unreadable(submission):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    submission.write_text("id\n")
    submission.chmod(0)
    assert "cannot be opened" in refused(submission)


def test_nul_bytes(submission):
    submission.write_bytes(b"id,p\n" + b"a,1\n" * 10**6 + b"b\0,1\n")
    assert "NUL byte at offset 4,000,006" in refused(submission)
    submission.write_bytes("id,p\n".encode("utf-16"))
    assert "is it UTF-16?" in refused(submission)


def test_not_utf8(submission):
    submission.write_bytes(b"id,p\n" + b"a,1\n" * 10**6 + b"\xff,1\n")
    assert "not UTF-8: byte 0xff at offset 4,000,005" in refused(submission)
    submission.write_bytes(b"x" * (2**20 - 1) + b"\xc3(")  # a character that the chunks cut
    assert "byte 0xc3 at offset 1,048,575" in refused(submission)
    submission.write_bytes(b"id,p\n\xc3")
    assert "ends within a character" in refused(submission)
    submission.write_bytes(b"\xed\xa0\x80")
    assert "not UTF-8" in refused(submission)


def test_one_long_line(submission):
    with submission.open("wb") as file:
        for _ in range(66):
            file.write(b"x" * 2**20)
    assert "69,206,016 bytes" in refused(submission)
    assert "line 1 of" in refused(submission, sparse(submission.with_name("sample.csv"), 10**9))


@pytest.mark.parametrize("cell", [b",", b'"",', b'"a",', b'a"b,', b'"a""b",'])
def test_too_many_columns(submission, cell):
    submission.write_bytes(cell * 1_000_000)
    assert "line 1 of" in refused(submission)
    submission.write_bytes(b"id,p\r" + b"a,1\n" * 400_000 + cell * 200_000)
    assert "line 400,002 of" in refused(submission)
    assert "more than 10,000 cells" in refused(submission)


def test_too_many_columns_over_several_lines(submission):
    for row in (b'"\n",' * 100_000, (b"1," * 9_000 + b'"\n",') * 50):
        submission.write_bytes(row)
        assert "have more than 10,000 cells" in refused(submission)
        submission.write_bytes(b"id,p\n" + row)  # pandas takes the first cells as names of the rows
        assert "have more than 10,000 cells" in refused(submission)


def test_short_rows_count_as_they_are_filled_up(submission):
    """Half a megabyte that pandas would make 15 GB of."""
    names = b",".join(b"c%d" % place for place in range(9_000))
    for header, row in (
        (names, b"1\n"),
        (b'"' + names.replace(b",", b'","') + b'"', b'"1"\n'),
        (b"a,b\n" + names, b"1\n"),
    ):
        submission.write_bytes(header + b"\n" + row * 200_000)
        assert "has 9,000 columns and 3,729 rows or more; at most 33,554,432 cells are allowed" in refused(submission)


def test_full_rows_are_never_too_many_cells(submission):
    """Nor are lines in quotation marks, nor blank ones, taken for rows."""
    for content in (
        b"id,p\n" + b"a,1\n" * (2**24 - 2),
        b",".join([b"c"] * 9_000) + b"\n" + (b"1," * 8_999 + b"1\n") * 3_700,
        b"c," * 9_000 + b'\n"' + b"text\n" * 10_000 + b'"\n' + b"\n \n" * 10_000,
    ):
        submission.write_bytes(content)
        guard(submission)


def test_a_row_larger_than_a_line_may_be(submission):
    submission.write_bytes(b"id\n" + b'"' + (b"x" * 2**20 + b"\n") * 65)
    assert "a row of submission.csv has more than 67,108,864 characters" in refused(
        submission, sparse(submission.with_name("sample.csv"), 10**8)
    )


def test_wide_tables_pass_quickly(submission, monkeypatch):
    """Cells are not looked at one by one where a line has too few commas to have too many cells."""
    monkeypatch.setattr("mlecore_toolkit.submissions.guard.MOST_COLUMNS", 10)

    class Line(bytearray):
        def replace(self, *arguments):
            raise AssertionError("looked at cell by cell")

    assert not guard_module._is_wide(Line(b"1,2,3,4,5,6,7,8,9,10"))
    with pytest.raises(AssertionError, match="cell by cell"):
        guard_module._is_wide(Line(b"1,2,3,4,5,6,7,8,9,10,11"))


def test_long_cells_pass(submission):
    for cell in (b'"' + b"1,2," * 10**6 + b'"', b'"' + b'"",' * 10**6 + b'"', b"1 2 " * 10**6):
        submission.write_bytes(b"id,p\na," + cell + b"\nb,1\n")
        guard(submission)


def test_ten_thousand_columns_pass_and_one_more_does_not(submission):
    submission.write_bytes(b"," * 9_999)
    guard(submission)
    submission.write_bytes(b"," * 10_000 + b"\n")
    refused(submission)


def test_does_not_grow_with_the_file(submission):
    with submission.open("wb") as file:
        for _ in range(60):
            file.write(b"row,0.5\n" * 2**17)
    tracemalloc.start()
    guard(submission)
    assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    tracemalloc.stop()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"id,p\n1,0\n" * 99)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped("submission.csv"), "submission.csv is a zip archive; expected a CSV file"),
        (zipped("xl/workbook.xml"), "submission.csv is an Excel workbook"),
        (gzip.compress(b"id,p\n1,0\n" * 99), "submission.csv is compressed with gzip"),
        (b"PAR1\x15\x04\x15\x10\x00\xff", "submission.csv is a Parquet file"),
    ],
    ids=["zip", "xlsx", "gzip", "parquet"],
)
def test_another_format_is_named(submission, content, words):
    submission.write_bytes(content)
    assert words in refused(submission)
