"""Cells that hold a list: records of so many words each, such as a class, a confidence and the corners of a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import Word, batches, pieces, words
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

_SHORT, _TOGETHER = 1 << 16, 1 << 20  # characters of a cell, and of all that are decoded at once
_FEW = 1024  # cells that are decoded one by one if one of them must be


@frozen(eq=False)
class Records:
    """The records of a cell, or of many, word by word: for each word of a record an array that has it of all records.

    Texts are objects, numbers and integers float64.
    """

    words: Sequence[NDArray[Any]]

    def __len__(self) -> int:
        return len(self.words[0])

    def __getitem__(self, some: slice | NDArray[np.intp]) -> Records:
        return Records([word[some] for word in self.words])


def decode_records(
    frame: DataFrame, cells: Iterable[str], record: Sequence[Word], *, single: bool = False, blank: bool = False
) -> Lists:
    """The records of each row's cell, whose words are what ``record`` says. An empty cell has none.

    A ``number`` is what Python's ``float`` takes, nan and inf too; an ``integer`` is that with its fraction cut off,
    and finite. Words are separated by any white space, or (``single``) by exactly one blank, so that two blanks have an
    empty word between them. ``blank``: a cell of white space alone has no records, too. Refused: words that make no
    whole records, and what is no number where one must be.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    from mlecore.submissions.lists import lists_of

    texts = list(cells)
    none = _decode("", record, single)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    empty = np.flatnonzero(sizes == 0).tolist()
    parts: list[tuple[Sequence[int], NDArray[np.intp], Records]] = [(empty, np.zeros(len(empty), dtype=int), none)]
    odd = np.flatnonzero(sizes > _SHORT).tolist()  # places of those that are decoded one by one
    waiting = list(batches(np.where(sizes > _SHORT, 0, sizes), _TOGETHER))
    while waiting:
        some = waiting.pop()
        found = _decode_together([texts[place] for place in some], record)
        if found is not None:
            parts.append((some, *found))
        elif len(some) > _FEW:
            waiting += some[: len(some) // 2], some[len(some) // 2 :]
        else:
            odd += some
    for place in in_file_order(frame, sorted(odd)):
        cell = texts[place]
        try:
            if not cell.strip() and not blank:
                raise ValueError("the cell is blank")
            decoded = _decode(cell, record, single) if cell.strip() else none
        except (ValueError, OverflowError) as reason:
            count = sum(1 for _ in words(cell, single=single))
            error = f"the cell has {count}" if cell.strip() and count % len(record) else reason
            between = "exactly one blank" if single else "blanks"
            raise InvalidSubmission(
                f"{row_name(frame, place)}: expected records of {len(record)} words ({', '.join(record)}) with "
                f"{between} between, but {error}; found {shown(cell)}"
            ) from None
        parts.append(([place], np.array([len(decoded)]), decoded))
    return lists_of(parts, lambda found: _joined(found or [none]))


def _joined(parts: Sequence[Records]) -> Records:
    return Records([np.concatenate(column) for column in zip(*(part.words for part in parts), strict=True)])


def _decode_together(cells: Sequence[str], record: Sequence[Word]) -> tuple[NDArray[np.intp], Records] | None:
    """How many records each has, and all of them, if all cells have single blanks between whole records. None if one
    has not, has anything but printable ASCII, or is wrong: ``_decode`` says which.

    The words of all cells lie one behind the other, and polars reads every ``len(record)``-th as one kind.
    """
    import polars as pl

    joined = "".join(cells)
    if not (joined.isascii() and joined.isprintable()):
        return None
    split = pl.Series(cells, dtype=pl.String).str.split(" ")
    counts = split.list.len().to_numpy().astype(np.intp)
    if (counts % len(record)).any():
        return None
    here = split.explode()
    if (here == "").any():
        return None
    columns = [_READ_TOGETHER[kind](here.gather_every(len(record), place)) for place, kind in enumerate(record)]
    known = [column for column in columns if column is not None]
    return (counts // len(record), Records(known)) if len(known) == len(record) else None


def _texts_together(cells: pl.Series) -> NDArray[Any]:
    import polars as pl

    names = cells.unique()
    return np.asarray(names.to_numpy()[cells.cast(pl.Enum(names)).to_physical().to_numpy()], dtype=object)


def _numbers_together(cells: pl.Series) -> NDArray[Any] | None:
    """None if polars does not take one, who of ASCII takes nothing that ``float`` does not, and rounds alike."""
    import polars as pl

    values = cells.cast(pl.Float64, strict=False)
    return None if values.null_count() else values.to_numpy()


def _integers_together(cells: pl.Series) -> NDArray[Any] | None:
    values = _numbers_together(cells)
    return None if values is None or not np.isfinite(values).all() else np.trunc(values) + 0.0  # no -0.0


_READ_TOGETHER: Mapping[Word, Callable[[pl.Series], NDArray[Any] | None]] = {
    "text": _texts_together,
    "number": _numbers_together,
    "integer": _integers_together,
}


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
    rows, found = flatten(frame[column].array)
    wrong = np.flatnonzero(bad(found))
    if len(wrong):
        place = in_file_order(frame, np.unique(rows[wrong]).tolist())[0]
        record = " ".join(str(word[wrong[rows[wrong] == place][0]]) for word in found.words)
        raise InvalidSubmission(f"{row_name(frame, place)}: {expected}; found {shown(record)}")


def flatten(cells: Lists) -> tuple[NDArray[np.intp], Records]:
    """All records, one below the other, and the row of each."""
    return np.repeat(np.arange(len(cells)), cells.counts()), cells.joined()
