"""Cells that hold a list: records of so many words each, such as a class, a confidence and the corners of a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import Word, pieces, words
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

_SHORT, _TOGETHER = 4096, 4096  # characters of a cell, and cells that are decoded at once


@frozen(eq=False)
class Records:
    """The records of a cell, word by word: for each word of a record an array that has it of all records.

    Texts are objects, numbers and integers float64.
    """

    words: Sequence[NDArray[Any]]

    def __len__(self) -> int:
        return len(self.words[0])


def decode_records(
    frame: DataFrame, cells: Iterable[str], record: Sequence[Word], *, single: bool = False, blank: bool = False
) -> list[Records]:
    """The records of each row's cell, whose words are what ``record`` says. An empty cell has none.

    A ``number`` is what Python's ``float`` takes, nan and inf too; an ``integer`` is that with its fraction cut off,
    and finite. Words are separated by any white space, or (``single``) by exactly one blank, so that two blanks have an
    empty word between them. ``blank``: a cell of white space alone has no records, too. Refused: words that make no
    whole records, and what is no number where one must be.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    texts = list(cells)
    out: dict[int, Records] = {}
    for start in range(0, len(texts), _TOGETHER):
        out |= _decode_together(texts, range(start, min(start + _TOGETHER, len(texts))), record)
    for place in in_file_order(frame, [place for place in range(len(texts)) if place not in out]):
        cell = texts[place]
        try:
            if cell and not cell.strip() and not blank:
                raise ValueError("the cell is blank")
            out[place] = _decode(cell if cell.strip() else "", record, single)
        except (ValueError, OverflowError) as reason:
            count = sum(1 for _ in words(cell, single=single))
            error = f"the cell has {count}" if cell.strip() and count % len(record) else reason
            between = "exactly one blank" if single else "blanks"
            raise InvalidSubmission(
                f"{row_name(frame, place)}: expected records of {len(record)} words ({', '.join(record)}) with "
                f"{between} between, but {error}; found {shown(cell)}"
            ) from None
    return [out[place] for place in range(len(texts))]


def _decode_together(texts: Sequence[str], places: Iterable[int], record: Sequence[Word]) -> Mapping[int, Records]:
    """The short cells among these, decoded at once, if all have single blanks between whole records. None of them if
    one has not, or is wrong: ``_decode`` says which."""
    places = [place for place in places if 0 < len(texts[place]) <= _SHORT]
    joined = " ".join([texts[place] for place in places])
    here = joined.split(" ")
    if not places or here != joined.split():
        return {}
    counts = np.array([texts[place].count(" ") + 1 for place in places])
    if (counts % len(record)).any():
        return {}
    seen: dict[str, str] = {}
    try:
        columns = [_READ[kind](here[i :: len(record)], seen) for i, kind in enumerate(record)]
    except (ValueError, OverflowError):
        return {}
    ends = (np.cumsum(counts) // len(record)).tolist()
    parts = zip(places, [0, *ends], ends, strict=False)
    return {place: Records([column[start:end] for column in columns]) for place, start, end in parts}


def _decode(cell: str, record: Sequence[Word], single: bool) -> Records:
    """In pieces: the words of a whole cell would take thirty times its size."""
    found: list[list[NDArray[Any]]] = []
    left: list[str] = []  # words of a record that continues in the next piece
    seen: dict[str, str] = {}
    for piece in pieces(cell, single=single) if cell else ():
        here = left + (piece.split(" ") if single else piece.split())
        whole = len(here) - len(here) % len(record)
        found.append([_READ[kind](here[i : whole : len(record)], seen) for i, kind in enumerate(record)])
        left = here[whole:]
    if left:
        raise ValueError("a record is cut off")
    if not found:
        found.append([_READ[kind]([], seen) for kind in record])
    return Records([np.concatenate(column) for column in zip(*found, strict=True)])


def _texts(cells: Sequence[str], seen: dict[str, str]) -> NDArray[Any]:
    """As objects; the same text is kept once."""
    out = np.empty(len(cells), dtype=object)
    out[:] = [seen.setdefault(word, word) for word in cells]
    return out


def _numbers(cells: Sequence[str], _: dict[str, str]) -> NDArray[Any]:
    return np.array(list(map(float, cells)), dtype=np.float64)


def _integers(cells: Sequence[str], _: dict[str, str]) -> NDArray[Any]:
    return np.array([float(int(float(word))) for word in cells], dtype=np.float64)  # int fails for nan and inf


_READ: Mapping[Word, Callable[[Sequence[str], dict[str, str]], NDArray[Any]]] = {
    "text": _texts,
    "number": _numbers,
    "integer": _integers,
}


def refuse_records(frame: DataFrame, column: str, expected: str, bad: Callable[[Records], NDArray[np.bool_]]) -> None:
    """Raises InvalidSubmission that names the first row with a ``bad`` record; ``expected`` says what it must be."""
    cells = frame[column].tolist()
    for place in in_file_order(frame, range(len(cells))):
        wrong = np.flatnonzero(bad(cells[place]))
        if len(wrong):
            record = " ".join(str(word[wrong[0]]) for word in cells[place].words)
            raise InvalidSubmission(f"{row_name(frame, place)}: {expected}; found {shown(record)}")


def flatten(cells: Sequence[Records], record: int) -> tuple[NDArray[np.intp], list[NDArray[Any]]]:
    """All records, of so many words, one below the other: the row of each, and their words."""
    if len(cells) == 0:
        return np.empty(0, dtype=np.intp), [np.empty(0) for _ in range(record)]
    rows = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
    return rows, [np.concatenate(word) for word in zip(*(cell.words for cell in cells), strict=True)]
