"""What a run left, as pieces of text that a judge can read at once. All of it may be hostile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from mlecore import files
from mlecore.errors import DataError
from mlecore.runs.code import code_files, paths
from mlecore.runs.record import RunRecord

_LOGS = (".log", ".txt", ".md", ".json", ".jsonl", ".out", ".err")
_PACKED = (".jsonl.zst", ".log.zst")  # transcripts of the gateway among them
_LARGEST = 16 * 2**20  # bytes of a log that are read, from its beginning
_OVERLAP = 0.08  # of a piece
_LATE = 0.6  # a piece ends in its last part, at the best place there
_BREAKS = (re.compile(r"\n(?=(?:def |class |@|#+ |# %%|In \[))"), re.compile(r"\n[ \t]*\n"), re.compile(r"\n"))


@frozen(kw_only=True)
class Piece:
    """A part of a file."""

    file: str  # relative to the run's folder
    start: int  # characters before it in ``whole``
    text: str
    whole: str  # the file's text; bytes that are no UTF-8 are half surrogate pairs
    binary: bool = True  # its offsets are those of the file; not so for a notebook's script, and what is packed

    @property
    def first_line(self) -> int:
        return self.whole.count("\n", 0, self.start) + 1


def pieces_of(run: RunRecord, size: int) -> Iterator[Piece]:
    """Code first, then logs; each file in order."""
    for code in code_files(run.folder):
        yield from split(code.path, code.text, size, binary=not code.path.lower().endswith(".ipynb"))
    for path in paths(run.folder, ("logs",)):
        packed = path.name.lower().endswith(_PACKED)
        if (packed or path.suffix.lower() in _LOGS) and (text := _read_log(path, run.folder, packed)):
            yield from split(path.relative_to(run.folder).as_posix(), text, size, binary=not packed)


def _read_log(path: Path, folder: Path, packed: bool) -> str:
    """Its beginning; "" for what is no log that can be read."""
    import zstandard

    try:
        with os.fdopen(files.open_regular(path, below=folder), "rb") as file:
            source = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) if packed else file
            content = source.read(_LARGEST)
    except (DataError, OSError, zstandard.ZstdError):
        return ""
    if content.count(0) * 20 > len(content):  # noise, or a hole
        return ""
    return content.decode("utf-8", "surrogateescape")


def split(file: str, text: str, size: int, *, binary: bool = True) -> Iterator[Piece]:
    """Pieces of at most ``size`` characters that overlap; they end between functions, paragraphs or lines."""
    start = 0
    while start < len(text):
        end = _end(text, start, size)
        if text[start:end].strip():
            yield Piece(file=file, start=start, text=text[start:end], whole=text, binary=binary)
        if end == len(text):
            return
        start = _line_start(text, end - int(size * _OVERLAP), start + 1)


def _end(text: str, start: int, size: int) -> int:
    if start + size >= len(text):
        return len(text)
    earliest = start + int(size * _LATE)
    for pattern in _BREAKS:
        ends = [found.start() + 1 for found in pattern.finditer(text, earliest, start + size)]
        if ends:
            return ends[-1]
    return start + size


def _line_start(text: str, near: int, least: int) -> int:
    """The beginning of the line that holds ``near``, but not before ``least``."""
    return max(least, text.rfind("\n", least, max(near, least)) + 1 or near)


def find_quote(piece: Piece, quote: str) -> tuple[int, int] | None:
    """Where in ``piece.text`` a quote stands, apart from white space; None if it is not there, or too short."""
    words = re.sub(r"(?m)^ *\d+\| ?", "", quote).split()
    if sum(map(len, words)) < 8:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), readable(piece.text))
    return found.span() if found else None


def readable(text: str) -> str:
    """The same number of characters, each of which can be sent."""
    return re.sub(r"[\ud800-\udfff]", "�", text)
