"""Ids and what stands beside them in any text: Markdown, HTML, code, nested JSON, whatever separates words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from mlecore_audit.keys import Keys

if TYPE_CHECKING:
    from pandas import DataFrame

_MOST = 16 << 20  # bytes of a text that are read so
_IN_LINE = 20  # words of a line
_BEFORE, _AFTER = 4, 12  # words around an id
_WORD = re.compile(r"[+-]?\.?\d[\w.+-]*|\w[\w.+-]*")


def rows_of_text(stream: IO[bytes], keys: Keys) -> Iterator[tuple[str, DataFrame]]:
    """Test rows as ``Keys.rows`` gives them: the words of each line that holds an id, then the words around each id."""
    longest = max((len(_WORD.findall(key)) for key in keys.chosen), default=1)
    every: list[str] = []
    lines = []
    for line in stream.read(_MOST).decode("utf-8", "replace").split("\n"):
        words = [word.rstrip(".+-") for word in _WORD.findall(line)]
        words = _joined(words, keys, longest) if longest > 1 else words
        every += words
        if any(keys.find(word) for word in words[:_IN_LINE]):
            lines.append(words[:_IN_LINE])
    if len(lines) > 1:
        yield from keys.rows(_table(lines, [f"word {n + 1}" for n in range(max(map(len, lines)))]))
    found, rows, heading = [], [], ""
    for place, word in enumerate(every):
        if (key := keys.find(word)) is None:
            heading = word
            continue
        before = every[max(0, place - _BEFORE) : place]
        found.append(key)
        rows.append([heading, *[""] * (_BEFORE - len(before)), *before, *every[place + 1 : place + 1 + _AFTER]])
    if len(set(found)) > 1:
        near = [
            *(f"word {n} before the id" for n in range(_BEFORE, 0, -1)),
            *(f"word {n + 1} after the id" for n in range(_AFTER)),
        ]
        yield "", _table(rows, ["last word before the ids", *near]).set_axis(found, axis=0)


def _table(rows: Sequence[Sequence[str]], names: list[str]) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=names[: max(map(len, rows))]).fillna("")


def _joined(words: list[str], keys: Keys, longest: int) -> list[str]:
    """With the words of an id such as "2026-01-31 12:00" as one."""
    joined, place = [], 0
    while place < len(words):
        spans = (length for length in range(longest, 1, -1) if keys.find(" ".join(words[place : place + length])))
        length = next(spans, 1)
        joined.append(" ".join(words[place : place + length]))
        place += length
    return joined
