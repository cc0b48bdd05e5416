"""Words for what is wrong with a submission: the first offending rows, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 3  # offending rows or ids named in a message
WIDTH = 60  # characters of a value shown
ID = "mlecore.id"  # key in DataFrame.attrs: the column that names the rows in messages


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line, control characters escaped."""
    if isinstance(value, str):
        return repr(value if len(value) <= WIDTH else value[: WIDTH - 3] + "...")
    if value is None or value != value:
        return "missing"
    return str(value.item() if hasattr(value, "item") else value)


def listed(values: Iterable[object]) -> str:
    """The first few values, comma-separated, with the number of the others."""
    values = list(values)
    text = ", ".join(shown(value) for value in values[:SHOWN])
    more = len(values) - SHOWN
    return f"{text} and {more:,} more" if more > 0 else text


def counted(number: int, thing: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def row_name(frame: DataFrame, position: int) -> str:
    """What to call the row at ``position``: by its id where the frame was aligned by one, else by its place."""
    column = frame.attrs.get(ID)
    if column is not None and column in frame.columns:
        return f"{column} {shown(frame[column].iloc[position])}"
    label = frame.index[position]
    place = label + 1 if isinstance(label, int) else position + 1
    return f"row {place:,}"


def offending(frame: DataFrame, positions: Sequence[int], values: Sequence[object]) -> str:
    """The first offending rows with what stands there: ``id 'a': 1.7; id 'b': missing (and 5 more rows)``."""
    text = "; ".join(
        f"{row_name(frame, int(position))}: {shown(value)}"
        for position, value in zip(positions[:SHOWN], values[:SHOWN], strict=True)
    )
    more = len(positions) - SHOWN
    return f"{text} (and {counted(more, 'more row')})" if more > 0 else text
