"""Text in chunks that a judge can read at once, and quotes found in them again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import evolve, frozen

_OVERLAP = 0.08  # of a chunk
_LATE = 0.6  # a chunk ends in its last part, at the best place there
_BREAKS = (re.compile(r"\n(?=(?:def |class |@|#+ |# %%|In \[))"), re.compile(r"\n[ \t]*\n"), re.compile(r"\n"))
_HOLE = re.compile(r"\0{64,}")  # as a log has that was emptied while it was written
_SHORTEST_QUOTE = 8  # characters


@frozen(kw_only=True)
class Chunk:
    """A part of a file, whose bytes that are no UTF-8 are half surrogate pairs."""

    file: str  # relative to the run's folder
    text: str
    line: int | None = 1  # number of its first line; None: unknown
    offset: int | None = 0  # bytes before it in the file; None: its text is not what the file holds byte for byte

    def part(self, start: int, end: int) -> Chunk:
        """``text[start:end]``, with its place in the file."""
        before = self.text[:start]
        return evolve(
            self,
            text=self.text[start:end],
            line=None if self.line is None else self.line + before.count("\n"),
            offset=None if self.offset is None else self.offset + len(before.encode("utf-8", "surrogateescape")),
        )


def split(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Chunks of at most ``size`` characters that overlap; they end between functions, paragraphs or lines.

    Holes and white space are left out.
    """
    place, at = chunk, 0  # the last chunk, and where it began: the next one is counted from there
    for start, end in _between_holes(chunk.text):
        for first, last in _spans(chunk.text[start:end], size):
            if (text := chunk.text[start + first : start + last]).strip():
                between = evolve(place, text=chunk.text[at : start + first])
                place, at = between.part(start + first - at, start + first - at), start + first
                yield evolve(place, text=text)


def _between_holes(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for hole in _HOLE.finditer(text):
        yield start, hole.start()
        start = hole.end()
    yield start, len(text)


def _spans(text: str, size: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = _end(text, start, size)
        yield start, end
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


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where in ``text`` a quote stands, apart from white space; None if it is not there, or too short."""
    words = re.sub(r"(?m)^ *\d*\| ?", "", quote).split()
    if sum(map(len, words)) < _SHORTEST_QUOTE:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), readable(text))
    return found.span() if found else None


def readable(text: str) -> str:
    """The same number of characters, each of which can be sent."""
    return re.sub(r"[\ud800-\udfff\0]", "\ufffd", text)
