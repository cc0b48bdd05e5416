"""Cells that hold a list: records of so many words each, such as a class, a confidence and the corners of a box."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from mlecore.errors import InvalidSubmission
from mlecore.submissions.cells import Word, pieces, words
from mlecore.submissions.decoding import decode
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

_TOGETHER = 1 << 20  # characters that are decoded at once
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
    texts, none = list(cells), _decode("", record, single)

    def together(some: list[str], _: NDArray[np.intp]) -> tuple[NDArray[np.intp], Records] | None:
        return _decode_together(some, record)

    def alone(place: int) -> Records:
        cell = texts[place]
        try:
            if not cell.strip() and not blank:
                raise ValueError("the cell is blank")
            return _decode(cell, record, single) if cell.strip() else none
        except (ValueError, OverflowError) as reason:
            count = sum(1 for _ in words(cell, single=single))
            error = f"the cell has {count}" if cell.strip() and count % len(record) else reason
            between = "exactly one blank" if single else "blanks"
            raise InvalidSubmission(
                f"{row_name(frame, place)}: expected records of {len(record)} words ({', '.join(record)}) with "
                f"{between} between, but {error}; found {shown(cell)}"
            ) from None

    def join(parts: list[Records]) -> Records:
        columns = zip(*(part.words for part in parts or [none]), strict=True)
        return Records([np.concatenate(column) for column in columns])

    return decode(frame, texts, together, alone, join, characters=_TOGETHER, few=_FEW)


def _decode_together(cells: Sequence[str], record: Sequence[Word]) -> tuple[NDArray[np.intp], Records] | None:
    """How many records each has, and all of them, if all cells have single blanks between whole records. None if one
    has not, has anything but printable ASCII, or is wrong: ``_decode`` says which.

    With a line end behind each record, they are a table that polars reads.
    """
    import polars as pl

    text = bytearray("\n".join([*cells, ""]).encode(errors="surrogatepass"))
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters <= ord(" "))  # of words
    line_ends = characters[ends] == ord("\n")
    counts = np.diff(np.flatnonzero(line_ends), prepend=-1)
    plain = (line_ends | (characters[ends] == ord(" "))).all() and characters.max() <= ord("~")
    if not plain or len(counts) != len(cells):
        return None
    if (counts % len(record)).any() or np.diff(ends, prepend=-1).min() < 2:
        return None
    characters[ends[len(record) - 1 :: len(record)]] = ord("\n")
    table = pl.read_csv(
        io.BytesIO(text),
        has_header=False,
        separator=" ",
        quote_char=None,
        schema={str(place): pl.String if kind == "text" else pl.Float64 for place, kind in enumerate(record)},
        ignore_errors=True,
    )
    columns = [_READ_TOGETHER[kind](column) for kind, column in zip(record, table, strict=True)]
    known = [column for column in columns if column is not None]
    return (counts // len(record), Records(known)) if len(known) == len(record) else None


def _texts_together(cells: pl.Series) -> NDArray[Any]:
    import polars as pl

    names = cells.unique()
    return np.asarray(names.to_numpy()[cells.cast(pl.Enum(names)).to_physical().to_numpy()], dtype=object)


def _numbers_together(cells: pl.Series) -> NDArray[Any] | None:
    """None if polars does not take one, who of ASCII takes nothing that ``float`` does not, and rounds alike."""
    return None if cells.null_count() else cells.to_numpy()


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
