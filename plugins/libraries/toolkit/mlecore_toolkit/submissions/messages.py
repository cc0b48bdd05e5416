"""Messages about invalid submissions: the first offending rows, the expected and the actual values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

SHOWN = 3  # offending rows or ids named in a message
WIDTH = 60  # characters of a value in a message
ID = "mlecore.id"  # key in DataFrame.attrs: the column that names the rows in messages
PLACES = "mlecore.places"  # key in DataFrame.attrs: the position of each row in the file


class _Values(Protocol):
    """A list or an array."""

    def __getitem__(self, position: int, /) -> object: ...


def shown(value: object) -> str:
    """A short form of a value for messages: one line, with escaped control characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= WIDTH else value[: WIDTH - 3] + "...")
    if value is None or value != value:
        return "missing"
    return str(value.item() if hasattr(value, "item") else value)


def listed(values: Iterable[object]) -> str:
    """The first values, separated by commas, and the number of further ones."""
    values = list(values)
    text = ", ".join(shown(value) for value in values[:SHOWN])
    more = len(values) - SHOWN
    return f"{text} and {more:,} more" if more > 0 else text


def counted(number: int, thing: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def row_name(frame: DataFrame, position: int) -> str:
    """The name of a row: its id if rows were paired by one, else its position in the file."""
    column = frame.attrs.get(ID)
    if column is not None and column in frame.columns:
        return f"{column} {shown(frame[column].iloc[position])}"
    label = frame.index[position]
    place = label + 1 if isinstance(label, int) else position + 1
    return f"row {place:,}"


def keep_places(frame: DataFrame, places: NDArray[np.intp]) -> None:
    """Note the position in the file of each row of a paired table, for ``in_file_order``."""
    frame.attrs[PLACES] = _Places(places)


class _Places:
    """Is not copied, although pandas copies attrs to every table derived from another one."""

    def __init__(self, of: NDArray[np.intp]) -> None:
        self.of = of

    def __deepcopy__(self, memo: object) -> _Places:
        return self


def in_file_order(frame: DataFrame, positions: Sequence[int]) -> list[int]:
    """Rows in the order of the file, so that check and grade, which pair them differently, name the same ones."""
    import numpy as np

    places = frame.attrs.get(PLACES)
    if places is None or len(places.of) != len(frame):
        return list(positions)
    chosen = np.asarray(positions, dtype=np.intp)
    ordered: list[int] = chosen[np.argsort(places.of[chosen], kind="stable")].tolist()
    return ordered


def offending(frame: DataFrame, positions: Sequence[int], values: _Values) -> str:
    """The first of these rows with their values: ``id 'a': 1.7; id 'b': missing (and 5 more rows)``.

    ``values``: of all rows, by position.
    """
    first = in_file_order(frame, positions)[:SHOWN]
    text = "; ".join(f"{row_name(frame, position)}: {shown(values[position])}" for position in first)
    more = len(positions) - SHOWN
    return f"{text} (and {counted(more, 'more row')})" if more > 0 else text
