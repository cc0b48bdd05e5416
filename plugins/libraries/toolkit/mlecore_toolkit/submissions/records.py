"""Cells with lists of records, such as a class, a confidence and the corners of a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.cells import Word, pieces, words
from mlecore_toolkit.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame


@frozen(eq=False)
class Records:
    """The records of one or more cells, as one array per word of a record: objects for text, float64 for numbers."""

    words: Sequence[NDArray[Any]]

    def __len__(self) -> int:
        return len(self.words[0])

    def __getitem__(self, some: slice | NDArray[np.intp]) -> Records:
        return Records([word[some] for word in self.words])


def decode_records(
    frame: DataFrame, cells: Iterable[str], record: Sequence[Word], *, single: bool = False, blank: bool = False
) -> NDArray[np.object_]:
    """The Records of each row's cell, with the types of ``record``. An empty cell has none.

    A ``number`` is a word that Python's ``float`` accepts, nan and inf too; an ``integer`` is the same with its
    fraction cut off, and finite. Words are separated by any white space, or (``single``) by exactly one blank, so that
    two blanks have an empty word between them. ``blank``: cells with only white space have no records, too.

    Raises InvalidSubmission that names the first row of ``frame`` with incomplete records or invalid numbers.
    """
    texts = list(cells)
    found = np.empty(len(texts), dtype=object)
    seen: dict[str, str] = {}
    for place in in_file_order(frame, range(len(texts))):
        cell = texts[place]
        try:
            if cell and not cell.strip() and not blank:
                raise ValueError("the cell is blank")
            found[place] = _decode(cell if cell.strip() else "", record, single, seen)
        except (ValueError, OverflowError) as reason:
            count = sum(1 for _ in words(cell, single=single))
            error = f"the cell has {count}" if cell.strip() and count % len(record) else reason
            between = "exactly one blank" if single else "blanks"
            raise InvalidSubmission(
                f"{row_name(frame, place)}: expected records of {len(record)} words ({', '.join(record)}) with "
                f"{between} between, but {error}; found {shown(cell)}"
            ) from None
    return found


def _decode(cell: str, record: Sequence[Word], single: bool, seen: dict[str, str]) -> Records:
    """Decode in pieces, because all words of a cell take thirty times its size. ``seen``: shares equal texts."""
    found = [[_read(kind, [], seen) for kind in record]]
    left: list[str] = []  # words of a record that continues in the next piece
    for piece in pieces(cell, single=single) if cell else ():
        here = left + (piece.split(" ") if single else piece.split())
        whole = len(here) - len(here) % len(record)
        found.append([_read(kind, here[place : whole : len(record)], seen) for place, kind in enumerate(record)])
        left = here[whole:]
    if left:
        raise ValueError("a record is cut off")
    return Records([np.concatenate(column) for column in zip(*found, strict=True)])


def _read(kind: Word, cells: Sequence[str], seen: dict[str, str]) -> NDArray[Any]:
    if kind == "text":
        return np.array([seen.setdefault(word, word) for word in cells], dtype=object)
    numbers = list(map(float, cells))
    if kind == "integer":
        numbers = [float(int(number)) for number in numbers]  # int fails for nan and inf
    return np.array(numbers, dtype=np.float64)


def refuse_records(frame: DataFrame, column: str, expected: str, bad: Callable[[Records], NDArray[np.bool_]]) -> None:
    """Raises InvalidSubmission that names the first row with a ``bad`` record, and what was ``expected``."""
    rows, found = flatten(frame[column])
    wrong = np.flatnonzero(bad(found))
    if len(wrong):
        place = in_file_order(frame, np.unique(rows[wrong]).tolist())[0]
        record = " ".join(str(word[wrong[rows[wrong] == place][0]]) for word in found.words)
        raise InvalidSubmission(f"{row_name(frame, place)}: {expected}; found {shown(record)}")


def flatten(cells: Iterable[Records]) -> tuple[NDArray[np.intp], Records]:
    """All records of one row or more, one below the other, and the row of each."""
    every = list(cells)
    rows = np.repeat(np.arange(len(every)), [len(records) for records in every])
    return rows, Records([np.concatenate(column) for column in zip(*(records.words for records in every), strict=True)])
