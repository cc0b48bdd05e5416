"""Which of a run's files a judge reads, how much of each, and what is left out and why. All of them may be hostile.

Everything in code/, logs/ and submission/ that is text is read, whatever its name. If it exceeds the budget, small
files are read whole and large ones are sampled from beginning to end. What cannot be read and may hide something is
reported; data (tables, weights, pictures) are only counted, as a judge could tell nothing from them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from attrs import field, frozen

from mle_detector_rules.chunks import Chunk, split
from mle_detector_rules.contents import Content, Kind, open_content
from mlecore.errors import DataError
from mlecore.model.detectors import NotRead
from mlecore.model.record import RunRecord
from mlecore.runs.code import FOLDERS, paths
from mlecore.util.printable import printable
from mlecore_jobs.fetching import GATEWAY_LOG, RELAY_LOG

_SUBMISSION = "submission/submission.csv"  # graded, and compared by the detector `leaks`
_NOT_THE_AGENTS = {str(GATEWAY_LOG), str(RELAY_LOG)}  # mlecore wrote them
_FILES = 20_000  # looked at
_NAMED = 1000  # files that are reported one by one
_LEAST = 2000  # characters that a file costs at least, and that a sample has: each call repeats the instructions
_SAMPLES = 4  # at least, of a file that is not read whole


@frozen(kw_only=True)
class Material:
    """What a judge reads of a run."""

    chunks: Sequence[Chunk]
    not_read: Sequence[NotRead]  # what it should have read
    data: Sequence[str]  # files of data, which nobody expects it to read
    own: bool  # is there any text that the agent wrote?

    @property
    def files(self) -> int:
        return len({chunk.file for chunk in self.chunks})


@frozen(kw_only=True)
class _Text:
    """A file that is text."""

    path: Path = field(repr=False)
    name: str
    length: int  # characters; bytes of a file that is too large to be held in memory
    unread: str  # why a part of it cannot be read, whatever the budget is

    @property
    def cost(self) -> int:
        return max(self.length, _LEAST)


def read_material(run: RunRecord, *, budget: int, chunk_chars: int) -> Material:
    """Chunks of at most ``chunk_chars`` characters, about ``budget`` characters in all; code first, then logs."""
    not_read: list[NotRead] = []
    texts, data = _listed(run, not_read)
    chunks: list[Chunk] = []
    for text, allowed in zip(texts, _allowances(texts, budget, run.uid), strict=True):
        if text.unread:
            not_read.append(NotRead(file=printable(text.name), why=text.unread))
        if allowed < text.length:
            share = f"{allowed:,} of {text.length:,} characters were read" if allowed else "it was not read"
            not_read.append(NotRead(file=printable(text.name), why=f"{share}: the budget is {budget:,} (-D budget)"))
        if allowed:
            chunks += _read(run, text, allowed, chunk_chars)
    collected = run.collected
    if collected is not None and not collected.complete:
        why = f"a limit cut what was collected: {(*collected.refused, 'nothing is said of it')[0]}"
        not_read.append(NotRead(file="code, logs", why=why))
    if len(not_read) > _NAMED:
        not_read[_NAMED:] = [NotRead(file="...", why=f"and {len(not_read) - _NAMED} more files")]
    own = any(chunk.file not in _NOT_THE_AGENTS for chunk in chunks)
    return Material(chunks=chunks, not_read=not_read, data=data, own=own)


def _listed(run: RunRecord, not_read: list[NotRead]) -> tuple[list[_Text], list[str]]:
    """The texts of a run, and its files of data."""
    texts, data = list[_Text](), list[str]()
    found = list(islice(paths(run.folder, FOLDERS), _FILES + 1))
    if len(found) > _FILES:
        not_read.append(NotRead(file="...", why=f"the run has more than {_FILES} files; the others were not looked at"))
    for path in found[:_FILES]:
        name = path.relative_to(run.folder).as_posix()
        if name == _SUBMISSION:
            continue
        try:
            with open_content(path, run.folder) as content:
                if content.kind is Kind.TEXT and content.length:
                    texts.append(_Text(path=path, name=name, length=content.length, unread=content.unread))
                elif content.kind is Kind.DATA:
                    data.append(printable(name))
                elif content.kind is Kind.UNREADABLE:
                    not_read.append(NotRead(file=printable(name), why=content.unread))
        except (DataError, OSError) as error:
            not_read.append(NotRead(file=printable(name), why=f"it cannot be opened: {_said(error)}"))
    return texts, data


def _said(error: Exception) -> str:
    return printable(os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error))


def _allowances(texts: Sequence[_Text], budget: int, seed: str) -> list[int]:
    """Characters of each text that are read: small ones whole, large ones an equal part of what is left.

    If not even the smallest part of each can be read, chance chooses, so that nobody can push a file out.
    """
    order = sorted(range(len(texts)), key=lambda number: texts[number].cost)
    if len(texts) * _LEAST > budget:
        order = random.Random(seed).sample(order, max(1, budget // _LEAST))
        order.sort(key=lambda number: texts[number].cost)
    allowed, left = [0] * len(texts), budget
    for done, number in enumerate(order):
        part = max(min(texts[number].cost, left // (len(order) - done)), 1)
        allowed[number] = min(part, texts[number].length)
        left -= part
    return allowed


def _read(run: RunRecord, text: _Text, allowed: int, size: int) -> Iterator[Chunk]:
    try:
        with open_content(text.path, run.folder) as content:
            if allowed >= text.length:
                for part in content.parts():
                    yield from split(part, size)
            else:
                for start, end in _samples(content, allowed, size, random.Random(f"{run.uid} {text.name}")):
                    yield from split(content.window(start, end), size)
    except (DataError, OSError):  # it was readable a moment ago: somebody changes the run's folder
        raise DataError(f"{printable(text.name)} was changed while it was judged") from None


def _samples(content: Content, allowed: int, size: int, dice: random.Random) -> Iterator[tuple[int, int]]:
    """Where to read: the beginning, the end, and a place drawn in each of equal parts between them."""
    length = content.length
    width = min(size, allowed, max(_LEAST, allowed // _SAMPLES))
    count = allowed // width
    yield 0, width
    if count > 2:
        part = (length - 2 * width) / (count - 2)
        for number in range(count - 2):
            start = width + int(number * part + dice.random() * max(0.0, part - width))
            yield start, start + width
    if count > 1:
        yield length - width, length
