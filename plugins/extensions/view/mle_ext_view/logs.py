"""A log in pieces: from any byte, from the end, and where a word stands; 500 MB take no longer than 5."""

from __future__ import annotations

import os
import time
from typing import BinaryIO

from attrs import frozen
from markupsafe import Markup

from . import ansi

PIECE = 64 << 10  # bytes that are shown at once
MATCHES = 200  # that one search lists
_CHUNK = 4 << 20
_PATIENCE = 2.0  # seconds of one search; the next one goes on
_SHOWN = 300  # characters of a line with a match
_BEFORE = 4096  # bytes in which the beginning of a line is looked for


@frozen(kw_only=True)
class Piece:
    """Whole lines of a log, but where one is longer than a piece."""

    start: int  # first byte
    end: int  # after the last one
    size: int  # of the log
    lines: list[Markup]


@frozen(kw_only=True)
class Match:
    """A line in which a word stands."""

    offset: int  # of the line's piece
    text: str


@frozen(kw_only=True)
class Found:
    """What a search found from one byte to another."""

    matches: list[Match]
    searched_to: int
    size: int


def piece_from(file: BinaryIO, start: int, most: int = PIECE) -> Piece:
    """The lines from a byte on; from the beginning of the line that it lies in."""
    size = size_of(file)
    start = _line_start(file, min(max(0, start), size))
    file.seek(start)
    content = file.read(most)
    if start + len(content) < size and (cut := content.rfind(b"\n")) >= 0:
        content = content[: cut + 1]
    return _piece(content, start, size)


def piece_before(file: BinaryIO, end: int, most: int = PIECE) -> Piece:
    """The lines before a byte."""
    size = size_of(file)
    end = min(max(0, end), size)
    start = max(0, end - most)
    file.seek(start)
    content = file.read(end - start)
    if start > 0 and (cut := content.find(b"\n")) >= 0 and cut + 1 < len(content):
        content = content[cut + 1 :]
    return _piece(content, end - len(content), size)


def search(file: BinaryIO, word: str, start: int = 0) -> Found:
    """Lines with a word, from a byte on; capitals matter if the word has any."""
    size, wanted, fold = size_of(file), word.encode("utf-8", "replace"), word == word.lower()
    found, at, until = list[Match](), min(max(0, start), size), time.monotonic() + _PATIENCE
    while wanted and at < size and len(found) < MATCHES and time.monotonic() < until:
        file.seek(at)
        chunk = file.read(_CHUNK + len(wanted))
        text = chunk.lower() if fold else chunk
        place, last = text.find(wanted), at
        while 0 <= place < _CHUNK and len(found) < MATCHES:
            match, line_end = _match(file, at + place)
            found.append(match)
            last = line_end
            place = text.find(wanted, line_end - at)
        at = last if len(found) == MATCHES else max(last, at + min(_CHUNK, len(chunk)))
    return Found(matches=found, searched_to=min(at, size) if wanted else size, size=size)


def _match(file: BinaryIO, offset: int) -> tuple[Match, int]:
    """The line around a byte, and where the next one begins."""
    start = _line_start(file, offset)
    file.seek(start)
    line = file.readline(offset - start + _SHOWN)
    text = ansi.plain(line.decode("utf-8", "replace").rstrip("\n"))
    return Match(offset=start, text=text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."), start + len(line)


def _line_start(file: BinaryIO, offset: int) -> int:
    """Where the line of a byte begins, or the byte itself if that is far before it."""
    before = min(offset, _BEFORE)
    file.seek(offset - before)
    cut = file.read(before).rfind(b"\n")
    if cut >= 0:
        return offset - before + cut + 1
    return 0 if before == offset else offset


def _piece(content: bytes, start: int, size: int) -> Piece:
    text = content.decode("utf-8", "replace")
    shown = ansi.lines(text.removesuffix("\n")) if text else []
    return Piece(start=start, end=start + len(content), size=size, lines=shown)


def size_of(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size
