"""Rejects hostile files before anything parses them, in bounded time and memory, with a reason.

An accepted file is regular, has UTF-8 text, and the sizes of the file, its lines and its table are limited: parsers
fill up short rows, so half a megabyte can become gigabytes. The sandbox's ``validate`` applies the same rules.
"""

from __future__ import annotations

import codecs
import csv
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.fast_csv.blocks import count
from mlecore_toolkit.submissions.table import Table

LARGEST = 64 * 2**20  # bytes that any submission may have; or ten times the sample's, if that is more
LONGEST_LINE = 64 * 2**20  # bytes of one line; the mask of a picture may have ten million
MOST_COLUMNS = 10_000  # cells of one line; the widest submission has a few hundred, and pandas is slow with many
MOST_CELLS = LARGEST // 2  # of a table, including gaps in short rows: as many as a file of that size can contain
_SAMPLES = 4  # or so many times the sample's cells, if that is more, because there may be extra columns
_CHUNK = 2**20
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def largest(sample_bytes: int) -> int:
    """The largest size of a submission, in bytes, for a sample submission of this size."""
    return max(LARGEST, 10 * sample_bytes)


def guard(path: Path, sample: Path | None = None) -> None:
    """Raises InvalidSubmission unless ``path`` is a file that is safe to parse.

    ``sample``: the sample submission, if there is one. A large sample raises the limits. Reads the file once, at most
    up to the size allowed, keeping at most one line in memory, and a second time if it has many lines and a wide
    header.
    """
    limit = largest(0 if sample is None else sample.stat().st_size)
    try:
        _refuse_unless_regular(path, os.lstat(path), limit)  # before opening: opening a device may have effects
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise _cannot_open(path, error) from None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        _refuse_unless_regular(path, os.fstat(descriptor), limit)
        try:
            lines, quoted = _scan(path, file, limit)
            if quoted or lines * MOST_COLUMNS > MOST_CELLS:
                _refuse_huge_table(path, file, lines, quoted, sample)
        except OSError as error:
            raise InvalidSubmission(f"{path.name} cannot be read: {error.strerror}") from None


def _cannot_open(path: Path, error: OSError) -> InvalidSubmission:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return InvalidSubmission(f"there is no file {path.name}")
    if error.errno == errno.ELOOP:
        return InvalidSubmission(f"{path.name} is a symbolic link; expected a regular file")
    return InvalidSubmission(f"{path.name} cannot be opened: {error.strerror}")


def _refuse_unless_regular(path: Path, status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "not a regular file")
        raise InvalidSubmission(f"{path.name} is {kind}; expected a regular file")
    if status.st_size > limit:
        raise InvalidSubmission(f"{path.name} has {status.st_size:,} bytes; at most {limit:,} are allowed")


def _scan(path: Path, file: FileIO, limit: int) -> tuple[int, bool]:
    """Checks NUL bytes, UTF-8 and lines. Returns the number of lines, and whether there are quotes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done, number, line = 0, 1, bytearray()  # bytes before the chunk; number and beginning of its first line
    quoted, start = False, b""
    while chunk := file.read(_CHUNK):
        if done == 0:
            start = chunk[:8]
        if (nul := chunk.find(b"\0")) >= 0:
            if kind := _format(start, chunk):
                raise InvalidSubmission(f"{path.name} is {kind}; expected a CSV file")
            hint = "; is it UTF-16? UTF-8 is expected" if done == 0 and nul < 4 else ""
            raise InvalidSubmission(f"{path.name} contains a NUL byte at offset {done + nul:,}{hint}")
        try:
            if not chunk.isascii() or decoder.getstate()[0]:
                decoder.decode(chunk)
        except UnicodeDecodeError as error:
            if kind := _format(start, chunk):
                raise InvalidSubmission(f"{path.name} is {kind}; expected a CSV file") from None
            raise _not_utf8(path, done, chunk, error) from None
        number, line = _lines(path, number, line, chunk)
        quoted = quoted or b'"' in chunk
        done += len(chunk)
        if done > limit:
            raise InvalidSubmission(f"{path.name} grew beyond the {limit:,} bytes that are allowed while it was read")
    if _is_wide(line):
        raise _wide(path, number)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InvalidSubmission(f"{path.name} is not UTF-8: it ends within a character") from None
    return number, quoted


_FORMATS = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed with gzip",
    b"PAR1": "a Parquet file",
    b"7z\xbc\xaf": "a 7z archive",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard",
    b"\x93NUMPY": "a NumPy array",
}


def _format(start: bytes, chunk: bytes) -> str:
    """The kind of a file that is not text, by its first bytes; empty if unknown."""
    found = next((name for mark, name in _FORMATS.items() if start.startswith(mark)), "")
    return "an Excel workbook" if found == "a zip archive" and b"xl/" in chunk else found


def _not_utf8(path: Path, done: int, chunk: bytes, error: UnicodeDecodeError) -> InvalidSubmission:
    offset = done + error.start - (len(error.object) - len(chunk))  # the decoder may have kept bytes of the last chunk
    return InvalidSubmission(f"{path.name} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {offset:,}")


def _lines(path: Path, number: int, line: bytearray, chunk: bytes) -> tuple[int, bytearray]:
    """Checks long lines that end in this chunk. Returns number and beginning of the last line."""
    ends = chunk.replace(b"\r", b"\n") if b"\r" in chunk else chunk  # a lone \r ends a line too
    start = 0
    while True:
        # the last end within reach: up to there, only the first line may be long enough for too many columns
        end = ends.rfind(b"\n", start, start + MOST_COLUMNS)
        if end < 0:
            end = ends.find(b"\n", start)
        if end < 0:
            break
        if _is_wide(line + chunk[start : ends.find(b"\n", start)]):
            raise _wide(path, number + ends.count(b"\n", 0, start))
        line, start = bytearray(), end + 1
    line += chunk[start:]
    number += count(ends, b"\n")
    if len(line) > LONGEST_LINE:
        raise InvalidSubmission(f"line {number:,} of {path.name} has more than {LONGEST_LINE:,} bytes")
    return number, line


def _wide(path: Path, number: int) -> InvalidSubmission:
    return InvalidSubmission(f"line {number:,} of {path.name} has more than {MOST_COLUMNS:,} cells")


def _is_wide(line: bytearray) -> bool:
    """Does a line have too many cells? Commas inside quotes do not count."""
    if line.count(b",") < MOST_COLUMNS:
        return False
    line = line.replace(b'""', b"")  # doubled quotes in a quoted cell, or an empty cell
    cells, at = 1, 0
    while at < len(line):
        if line.startswith(b'"', at):
            closing = line.find(b'"', at + 1)
            at = len(line) if closing < 0 else closing + 1
        comma = line.find(b",", at)
        if comma < 0:
            return False
        cells, at = cells + 1, comma + 1
        if cells > MOST_COLUMNS:
            return True
    return False


def _refuse_huge_table(path: Path, file: FileIO, lines: int, quoted: bool, sample: Path | None) -> None:
    """Rejects a table with too many columns or cells. ``lines``: of the file; a row may have several if ``quoted``."""
    with _table_rows(path, file) as table_rows:
        start = list(islice(table_rows, 2))  # the header, and a first row that may be wider
        columns = max(map(len, start), default=0)
        if columns > MOST_COLUMNS:
            raise InvalidSubmission(f"the first rows of {path.name} have more than {MOST_COLUMNS:,} cells")
        if lines * columns <= MOST_CELLS:
            return
        allowed = MOST_CELLS if sample is None else max(MOST_CELLS, _SAMPLES * _cells(sample))
        if not quoted and lines * columns <= allowed:
            return
        for rows, _ in enumerate(chain(start, table_rows)):
            if rows * columns > allowed:
                raise InvalidSubmission(
                    f"the table in {path.name} has {columns:,} columns and {rows:,} rows or more; at most {allowed:,} "
                    "cells are allowed, including those that short rows leave out"
                )


def _cells(table: Path) -> int:
    """The number of cells of a table."""
    with table.open("rb", buffering=0) as file, _table_rows(table, file) as table_rows:
        header = next(table_rows, [])
        rows = Table(table).heavy_rows()
        return len(header) * (sum(1 for _ in table_rows) if rows is None else rows)


@contextmanager
def _table_rows(path: Path, file: FileIO) -> Iterator[Iterator[list[str]]]:
    """The header and the rows from the start of the file, split as pandas does, without blank lines. Closes it."""
    file.seek(0)
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        with TextIOWrapper(BufferedReader(file), encoding="utf-8-sig", newline="") as text:
            yield _split(path, text)
    finally:
        csv.field_size_limit(before)


def _split(path: Path, text: Iterator[str]) -> Iterator[list[str]]:
    """Rows of at most the size of a line, although a quoted cell may contain line ends."""
    size = 0

    def lines() -> Iterator[str]:
        nonlocal size
        for line in text:
            size += len(line)
            if size > LONGEST_LINE:
                raise InvalidSubmission(f"a row of {path.name} has more than {LONGEST_LINE:,} characters")
            yield line

    for cells in csv.reader(lines()):
        size = 0
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield cells
