"""How a CSV file is written: its encoding, separator and names of columns. Only its beginning is parsed."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, cast

from mle_ext_own_data.draft import Reading
from mlecore.errors import UsageError
from mlecore.util.file_kinds import describe_bytes

ENDINGS = (".csv", ".tsv", ".tab", ".txt")
_SEPARATORS = ",;\t| "  # a blank only if no other one fits
_SAMPLE = 1 << 18  # bytes
_LINES = 200
_AGREE = 0.9  # share of the sample's rows that have as many cells as the first one
_ENCODINGS = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "shift_jis", "gb18030", "big5", "cp949")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def member_of(path: Path) -> str | None:
    """The only table in a zip archive; None: it is no zip archive. Raises UsageError."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if "xl/workbook.xml" in names:
        raise UsageError(f"{path} is an Excel workbook", fix="Save its sheet as CSV, and name that file.")
    tables = [name for name in names if name.lower().endswith(ENDINGS) and not name.startswith("__MACOSX/")]
    if len(tables) != 1:
        raise UsageError(f"{path} is a zip archive with {len(tables)} tables", fix="Unpack it, and name the table.")
    return tables[0]


@contextmanager
def opened(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    """The table's bytes, uncompressed. Raises UsageError if they are damaged."""
    try:
        if member is not None:
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                yield file
        else:
            with path.open("rb") as plain:
                packed = plain.peek(2)[:2] == b"\x1f\x8b"
                if packed and path.suffix != ".gz":
                    raise UsageError(f"{path} is a gzip file", fix=f"Rename it to {path.name}.gz.")
                with gzip.GzipFile(fileobj=plain) if packed else nullcontext(plain) as file:
                    yield cast("IO[bytes]", file)
    except (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, NotImplementedError) as error:
        raise UsageError(f"{path} is damaged: {error}", fix="Copy it again.") from None
    except RuntimeError as error:  # how zipfile says that a password is needed
        raise UsageError(f"{path}: {error}", fix="Unpack it, and name the table.") from None


def examine(path: Path, member: str | None) -> tuple[Reading, list[str]]:
    """How the table is written, and the names of its columns as pandas has them. Raises UsageError."""
    with opened(path, member) as file:
        encoding = _encoding(path, file)
    with opened(path, member) as file:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(file.read(_SAMPLE))
    whole = len(text) < _SAMPLE // 4  # at most four bytes a sign
    separator = _separator(path, text, whole)
    reading = Reading(kind="csv", separator=separator, encoding=encoding, member=member)
    import pandas as pd

    names = pd.read_csv(io.StringIO(text), sep=separator, nrows=0, index_col=False).columns
    return reading, [str(name) for name in names]


def _encoding(path: Path, file: IO[bytes]) -> str:
    """By its mark, or UTF-8 if all of it is, else a guess."""
    start = file.read(_SAMPLE)
    if not start.strip():
        raise UsageError(f"{path} is empty", fix="Name a table with a line of names and at least ten rows.")
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name
    if b"\0" in start:
        raise UsageError(f"{path} is no table: it is {describe_bytes(start)[0]}", fix="Save it as CSV or Parquet.")
    decoder, block, last = codecs.getincrementaldecoder("utf-8")(), start, b""
    try:
        while block:
            decoder.decode(block)
            last, block = block, file.read(_SAMPLE)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _guessed(path, block or last)
    return "utf-8"


def _guessed(path: Path, block: bytes) -> str:
    from charset_normalizer import from_bytes

    lines = [line for line in block.splitlines() if not line.isascii()]
    found = list(from_bytes(b"\n".join(lines[:500]), cp_isolation=list(_ENCODINGS)))
    if not found:
        raise UsageError(
            f"{path} is text in no known encoding, or no text: it is {describe_bytes(block)[0]}",
            fix="Save it as UTF-8, or as Parquet.",
        )
    best = min(found, key=lambda match: (match.chaos, -match.coherence, _ENCODINGS.index(match.encoding)))
    return str(best.encoding)


def _separator(path: Path, text: str, whole: bool) -> str:
    """What stands between cells: what gives most columns, if most rows have as many cells as the first one."""
    best = (1, "")
    for separator in _SEPARATORS:
        rows = _parsed(text, separator, whole) if separator != " " or not best[1] else []
        if rows and len(rows[0]) > 1 and (separator != " " or len(rows) > 2):
            agree = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
            if agree >= _AGREE and len(rows[0]) > best[0]:
                best = (len(rows[0]), separator)
    if best[1]:
        return best[1]
    what, _ = describe_bytes(text.encode("utf-8", "replace")[:16384])
    for separator in _SEPARATORS.rstrip():
        rows = _parsed(text, separator, whole)
        wrong = next((place for place, row in enumerate(rows, 1) if len(row) != len(rows[0])), 0)
        if wrong and len(rows[0]) > 1:
            raise ragged(path, wrong, len(rows[wrong - 1]), len(rows[0]))
    raise UsageError(
        f"{path} is no table with a comma, semicolon, tab, bar or blank between its cells: it is {what}",
        fix="Save it as CSV with at least two columns.",
    )


def _parsed(text: str, separator: str, whole: bool) -> list[list[str]]:
    """The first rows; the last one of a sample may be cut off."""
    try:
        rows = list(islice(csv.reader(io.StringIO(text), delimiter=separator), _LINES + 1))
    except csv.Error:
        return []
    rows = rows if whole and len(rows) <= _LINES else rows[:-1] or rows
    return [row for row in rows if row]


def ragged(path: Path, place: int, found: int, expected: int) -> UsageError:
    """The error for a row with another number of cells than the header."""
    return UsageError(
        f"{path}: row {place} has {found} cells, the line of names {expected}",
        fix="Give each column a name, the first one too, and put cells with a separator into double quotes.",
    )


def first_ragged(path: Path, reading: Reading) -> UsageError | None:
    """The error for the first row that has too many cells, if there is one."""
    with opened(path, reading.member) as file:
        text = io.TextIOWrapper(file, encoding=reading.encoding, errors="replace", newline="")
        expected = 0
        try:
            for place, row in enumerate(csv.reader(text, delimiter=reading.separator), 1):
                expected = expected or len(row)
                if len(row) > expected:
                    return ragged(path, place, len(row), expected)
        except csv.Error as error:
            return UsageError(f"{path}: {error}", fix="Close its double quotes.")
        finally:
            text.detach()
    return None
