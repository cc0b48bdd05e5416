"""Reads columns of a submission as arrays (numbers, labels, integers, texts), and rejects values that do not fit.

Whether a cell is a number depends on how pandas types the whole column: ``True`` and ``False`` are 1 and 0 in a column
of nothing else, and one word makes the whole column text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.cells import words
from mlecore_toolkit.submissions.messages import offending, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

_LISTED = 20  # choices in a message


def numbers(
    frame: DataFrame,
    column: str | Sequence[str],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    missing: bool = False,
    infinite: bool = False,
    from_text: bool = False,
) -> NDArray[np.float64]:
    """The column (one dimension) or columns (rows x columns) as float64.

    ``low`` and ``high`` are included. ``missing`` allows NaN (whatever the range), ``infinite`` infinities within the
    range. ``from_text`` also accepts a column of text if Python's ``float`` reads every cell (``1_0``), as scikit-learn
    does with columns of objects; else any text is rejected.
    """
    import numpy as np

    if not isinstance(column, str):
        options: dict[str, Any] = {"missing": missing, "infinite": infinite, "from_text": from_text}
        each = [numbers(frame, name, low=low, high=high, **options) for name in column]
        return np.column_stack(each) if each else np.empty((len(frame), 0))
    expected = _expected(low, high, missing, infinite)
    series = frame[column]
    values = _as_floats(series, from_text)
    if values is None:
        raise InvalidSubmission(f"column {column!r} must hold {expected}; found {_texts_found(frame, column)}")
    bad = (values < low) | (values > high)
    if not missing:
        bad |= np.isnan(values)
    if not infinite:
        bad |= np.isinf(values)
    refuse(frame, column, expected, bad)
    return values


def labels(
    frame: DataFrame, column: str, *, low: float = -math.inf, high: float = math.inf
) -> NDArray[np.int64] | NDArray[np.uint64]:
    """Whole numbers from ``low`` to ``high``, as scikit-learn 1.9 accepts them for class labels.

    ``3.0`` is 3, and ``True`` is 1 in a boolean column. Rejects text, missing and infinite values, fractions, and
    floats beyond 64-bit integers (``1e30``). The result is uint64 only if a number is 2^63 or more.
    """
    import numpy as np

    bounded = low > -math.inf or high < math.inf
    expected = f"whole numbers from {low:g} to {high:g}" if bounded else "whole numbers"
    series = frame[column]
    if series.dtype == object:
        if any(_is_truth(value) for value in series):
            expected += ", or True and False alone"
        if any(isinstance(value, str) for value in series):
            found = _texts_found(frame, column, truths=True)
            raise InvalidSubmission(f"column {column!r} must hold {expected}; found {found}")
        refuse(frame, column, expected, np.fromiter((not _is_number(v) for v in series), bool, len(series)))
        raise InvalidSubmission(f"column {column!r} must hold {expected}; it mixes both")
    values = series.to_numpy()
    if bounded:
        refuse(frame, column, expected, ~((values >= low) & (values <= high)))
    if values.dtype.kind == "u":
        return np.asarray(values, dtype=np.uint64)
    if values.dtype.kind == "f":
        fits = (values >= -(2.0**63)) & (values < 2.0**63)  # False for NaN too
        refuse(frame, column, expected, ~fits | (np.where(fits, values, 0.5) % 1 != 0))
    return np.asarray(values.astype(np.int64))


def integers(frame: DataFrame, column: str) -> NDArray[np.int64]:
    """Each cell through Python's ``int``: ``27.9`` in a column of numbers is 27, ``1_0`` in a column of text 10.

    Rejects missing and infinite values, text that ``int`` rejects (``3.0`` in a column of text), and numbers beyond
    signed 64-bit integers.
    """
    import numpy as np

    series = frame[column]
    if series.dtype == bool:
        return np.asarray(series.to_numpy(), dtype=np.int64)
    if series.dtype == object:
        read = [_integer(value) for value in series]
        bad = np.fromiter((value is None for value in read), bool, len(read))
        values = np.array([value or 0 for value in read], dtype=np.int64)
    else:
        values = series.to_numpy()
        low, high = (-(2.0**63), 2.0**63) if values.dtype.kind == "f" else (-(2**63), 2**63 - 1)
        bad = ~((values >= low) & ((values < high) if values.dtype.kind == "f" else (values <= high)))
        values = np.where(bad, 0, values).astype(np.int64)
    refuse(frame, column, "integers of 64 bits", bad)
    return values


def texts(frame: DataFrame, column: str, *, missing: str | None = None, choices: Sequence[str] = ()) -> list[str]:
    """The column's cells as text; a missing one becomes ``missing``, or is rejected if that is None.

    Rejects texts that are not among ``choices``, if there are any, and columns that pandas reads as numbers or
    booleans. A column without any value is all missing.
    """
    cells: list[str] = text_cells(frame, column, missing, choices).tolist()
    return cells


def text_cells(
    frame: DataFrame, column: str, missing: str | None = None, choices: Sequence[str] = ()
) -> NDArray[np.object_]:
    """``texts`` as an array for a column."""
    import numpy as np
    from pandas.api.types import infer_dtype

    series = frame[column]
    gaps = series.isna().to_numpy()
    expected = "text in every row" if missing is None else "text"
    if missing is None:
        refuse(frame, column, expected, gaps)
    if series.dtype != object:
        text = np.zeros(len(series), dtype=bool)
    elif infer_dtype(series) == "string":  # except gaps
        text = ~gaps
    else:
        text = np.fromiter((isinstance(value, str) for value in series), bool, len(series))
    refuse(frame, column, f"{expected}, and is read as numbers or as true and false", ~text & ~gaps)
    if choices:
        known = series.isin(choices).to_numpy()
        some = ", ".join(choices[:_LISTED]) + (", ..." if len(choices) > _LISTED else "")
        refuse(frame, column, f"one of {len(choices)} texts ({some})", ~known & ~gaps)
    cells = np.array(series, dtype=object)
    cells[gaps] = missing or ""
    return cells


def rows_sum_to_one(frame: DataFrame, columns: Sequence[str], tolerance: float) -> None:
    """Raises InvalidSubmission if a row's numbers in these columns do not add up to 1 within ``tolerance``."""
    import numpy as np

    sums = np.column_stack([frame[column] for column in columns]).sum(axis=1)
    bad = np.flatnonzero(~(np.abs(sums - 1) <= tolerance))
    if len(bad):
        raise InvalidSubmission(
            f"each row's values must add up to 1; sums found: {offending(frame, bad.tolist(), sums)}"
        )


def rescaled(frame: DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
    """These columns, each row divided by its sum. Raises InvalidSubmission unless all sums are finite and above 0."""
    import numpy as np

    values = np.column_stack([frame[column] for column in columns]).astype(np.float64)
    sums = values.sum(axis=1)
    bad = np.flatnonzero(~((sums > 0) & np.isfinite(sums)))
    if len(bad):
        raise InvalidSubmission(f"each row's values must have a sum above 0: {offending(frame, bad.tolist(), sums)}")
    return np.asarray(values / sums[:, None])


def refuse(frame: DataFrame, column: str, expected: str, bad: NDArray[np.bool_]) -> None:
    """Raises InvalidSubmission with the first rows where ``bad`` is true, if there are any."""
    import numpy as np

    if bad.any():
        where = np.flatnonzero(bad).tolist()
        raise InvalidSubmission(
            f"column {column!r} must hold {expected}; found {offending(frame, where, frame[column].array)}"
        )


def refuse_other_labels(frame: DataFrame, column: str, known: Collection[str], expected: str) -> None:
    """Raises InvalidSubmission for a label that is not ``known``; the message calls those ``expected``.

    The column is text as written (``verbatim``), with labels separated by white space.
    """
    import numpy as np

    cells = frame[column].tolist()
    foreign = np.fromiter((not all(word in known for word in words(cell)) for cell in cells), bool, len(cells))
    refuse(frame, column, expected, foreign)


def _as_floats(series: Series, from_text: bool) -> NDArray[np.float64] | None:
    """The column as float64, or None if a cell is text and no number."""
    import numpy as np

    if series.dtype != object:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    if not from_text and any(isinstance(value, str) for value in series):
        return None
    try:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return None


def _texts_found(frame: DataFrame, column: str, *, truths: bool = False) -> str:
    """The cells that made a column text: words first, else numbers that pandas does not read.

    ``truths``: the column may be booleans, so True and False come last.
    """
    values = frame[column].tolist()
    texts = [i for i, value in enumerate(values) if isinstance(value, str)]
    words = [i for i in texts if not _floats(values[i])]
    if truths and any(_is_truth(values[i]) for i in words):
        words = [i for i in words if not _is_truth(values[i])] or [i for i in texts if _floats(values[i])] or words
    where = words or [i for i in texts if not _plain(values[i])] or texts
    return offending(frame, where, values)


def _is_truth(value: object) -> bool:
    """Would pandas read it as a boolean in a column of booleans?"""
    return value is True or value is False or (isinstance(value, str) and value.lower() in ("true", "false"))


def _floats(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain(text: str) -> bool:
    """Would pandas read it as a number in any column?"""
    return text.isascii() and "_" not in text and abs(float(text)) < 2**63


def _is_number(value: object) -> bool:
    return not isinstance(value, str) and value == value


def _integer(value: Any) -> int | None:
    try:
        number = int(value)
    except (ValueError, OverflowError, TypeError):
        return None
    return number if -(2**63) <= number < 2**63 else None


def _expected(low: float, high: float, missing: bool, infinite: bool) -> str:
    """The rule in words."""
    kind = "numbers" if infinite else "finite numbers"
    if low > -math.inf and high < math.inf:
        text = f"numbers from {shown(low)} to {shown(high)}"
    elif low > -math.inf:
        text = f"{kind} of {shown(low)} or more"
    elif high < math.inf:
        text = f"{kind} of {shown(high)} or less"
    else:
        text = kind
    return text if missing else f"{text} in every row"
