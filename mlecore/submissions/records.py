"""Cells that hold a list: records of so many words each, such as a class, a confidence and the corners of a box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mlecore.errors import InvalidSubmission
from mlecore.submissions.messages import in_file_order, row_name, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

Word = Literal["text", "number", "integer"]
Record: TypeAlias = tuple[Any, ...]

_READ: Mapping[Word, Callable[[str], Any]] = {
    "text": str,
    "number": float,  # nan and inf too
    "integer": lambda word: int(float(word)),  # 14.9 is 14; nan and inf fail
}


def decode_records(
    frame: DataFrame, cells: Iterable[str], record: Sequence[Word], *, single: bool = False, blank: bool = False
) -> list[list[Record]]:
    """The records of each row's cell, as tuples of what ``record`` says of their words. An empty cell has none.

    Words are separated by any white space, or (``single``) by exactly one blank, so that two blanks have an empty word
    between them. ``blank``: a cell of white space alone has no records, too. Refused: words that make no whole records,
    and what Python's ``float`` does not take where a number must be.

    Raises InvalidSubmission that names the first bad row by ``frame``.
    """
    texts = list(cells)
    out: dict[int, list[Record]] = {}
    for place in in_file_order(frame, range(len(texts))):
        cell = texts[place]
        try:
            if cell and not cell.strip() and not blank:
                raise ValueError("the cell is blank")
            words = [] if not cell.strip() else cell.split(" ") if single else cell.split()
            if len(words) % len(record):
                raise ValueError(f"the cell has {len(words)}")
            columns = [map(_READ[kind], words[i :: len(record)]) for i, kind in enumerate(record)]
            out[place] = list(zip(*columns, strict=True))
        except (ValueError, OverflowError) as error:
            between = "exactly one blank" if single else "blanks"
            raise InvalidSubmission(
                f"{row_name(frame, place)}: expected records of {len(record)} words ({', '.join(record)}) with "
                f"{between} between, but {error}; found {shown(cell)}"
            ) from None
    return [out[place] for place in range(len(texts))]


def flatten(cells: Sequence[Sequence[Record]]) -> tuple[NDArray[np.intp], list[tuple[Any, ...]]]:
    """All records one below the other: the row of each, and for each word of a record a tuple with all of them.

    No record at all gives no tuples.
    """
    import numpy as np

    rows = np.fromiter(chain.from_iterable(repeat(row, len(cell)) for row, cell in enumerate(cells)), dtype=np.intp)
    return rows, list(zip(*chain.from_iterable(cells), strict=True))
