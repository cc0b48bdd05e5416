"""Checks the columns and ids of a submission, and pairs its rows with the answers.

``Format.read`` does all of this by the ``[submission]`` table. A ``grade`` whose rules no table can express uses these
functions, and those of ``mlecore_toolkit.submissions.values``, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import GradingError, InvalidSubmission
from mlecore_toolkit.submissions import large
from mlecore_toolkit.submissions.messages import counted, keep_places, listed, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

    from mlecore_toolkit.submissions.table import Table


def read_answers(path: Path, columns: Sequence[str] = (), *, verbatim: Sequence[str] = ()) -> DataFrame:
    """These columns of the answers (default: all), typed as in submissions. Raises GradingError if one is missing.

    The answers are often the whole test table; its other columns are skipped. Columns in ``verbatim`` are text as
    written, with empty cells as empty text.
    """
    import pandas as pd

    try:
        answers = large.read(path, columns, verbatim=verbatim)
        if answers is None:
            answers = pd.read_csv(
                path,
                float_precision="round_trip",
                usecols=set(columns).__contains__ if columns else None,
                converters=dict.fromkeys(verbatim, str),
            )
    except (OSError, ValueError) as error:
        raise GradingError(f"the answers cannot be read: {error}", fix="Prepare the competition again.") from None
    if missing := [column for column in columns if column not in answers.columns]:
        raise GradingError(
            f"the answers {path} lack {counted(len(missing), 'column')}: {listed(missing)}",
            fix="Prepare the competition again.",
        )
    return answers


def columns_of(submission: Table, columns: Sequence[str], *, only: bool = False) -> DataFrame:
    """The submission's table in file order. Raises InvalidSubmission if it lacks one of ``columns``.

    ``only``: also rejects other columns. The order of columns is free.
    """
    frame = submission.frame()
    refuse_columns(frame, columns, only=only)
    return frame


def refuse_columns(frame: DataFrame, columns: Sequence[str], *, only: bool = False, may: Sequence[str] = ()) -> None:
    """Raises InvalidSubmission for a table that ``columns_of`` rejects, but for other columns that are in ``may``."""
    found = list(frame.columns)
    if missing := [column for column in columns if column not in frame.columns]:
        if not found:
            raise InvalidSubmission(f"the submission is empty; expected the columns {listed(columns)}")
        near = {str(name).strip().lower(): name for name in found}
        hints = [near[column.strip().lower()] for column in missing if column.strip().lower() in near]
        hint = f" (names must be the same to the letter, unlike {listed(hints)})" if hints else _shape(found, columns)
        raise InvalidSubmission(
            f"the submission lacks {counted(len(missing), 'column')}: {listed(missing)}{hint}; it has {listed(found)}"
        )
    if only and (extra := [column for column in found if column not in {*columns, *may}]):
        raise InvalidSubmission(
            f"the submission has {counted(len(extra), 'column')} that are not allowed: {listed(extra)}; "
            f"expected only {listed(columns)}"
        )


_NO_HEADER = {
    "#": "its first line is a comment",
    "//": "its first line is a comment",
    "sep=": "its first line is for Excel alone",
    "<": "it is a web page or XML",
    "{": "it is JSON",
    "[": "it is JSON",
    "version https://git-lfs": "it is a pointer of Git LFS",
    "```": "it is a block of Markdown",
}


def _shape(found: Sequence[object], columns: Sequence[str]) -> str:
    """A hint if the first line looks like another format than the header of a CSV file; else empty."""
    first = str(found[0])
    for start, what in _NO_HEADER.items():
        if first.lstrip().lower().startswith(start):
            return f" ({what}; expected a first line with the names of the columns)"
    for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (" ", "blanks")):
        if len(found) == 1 and [part.strip() for part in first.split(mark)] == list(columns):
            return f" (its cells are separated by {name}; expected commas)"
    if len(found) >= len(columns) and not {str(name) for name in found} & set(columns):
        return " (its first line must name the columns)"
    return ""


def require_same_count(predictions: DataFrame, truth: DataFrame, on: str | None = None) -> None:
    """Raises InvalidSubmission if the number of rows is not the answers'. ``on``: column of the ids that it names."""
    if len(predictions) == len(truth):
        return
    which = ""
    if on is not None and on in predictions.columns and on in truth.columns:
        absent = _absent(truth[on], predictions[on])
        extra = _absent(predictions[on], truth[on])
        twice = list(dict.fromkeys(predictions[on][predictions[on].duplicated()])) if truth[on].is_unique else []
        parts = (("missing", _in_order(absent)), ("unexpected", extra), ("repeated", twice))
        which = "".join(f"; {what}: {listed(ids)}" for what, ids in parts if ids)
    raise InvalidSubmission(f"the submission has {counted(len(predictions), 'row')}; expected {len(truth):,}{which}")


def require_same_count_if_heavy(submission: Table, truth: DataFrame) -> None:
    """Rejects a large file with a wrong number of rows before it is parsed; smaller files pass."""
    rows = submission.heavy_rows()
    if rows is not None and rows != len(truth):
        raise InvalidSubmission(f"the submission has {counted(rows, 'row')}; expected {len(truth):,}")


def require_same_ids(predictions: DataFrame, truth: DataFrame, on: str) -> None:
    """Raises InvalidSubmission unless the ids are the answers', each at least once."""
    require_known_ids(predictions, truth, on)
    if absent := _absent(truth[on], predictions[on]):
        raise InvalidSubmission(f"the submission lacks {counted(len(absent), on)}: {listed(_in_order(absent))}")


def require_known_ids(predictions: DataFrame, truth: DataFrame, on: str) -> None:
    """Raises InvalidSubmission for an id that the answers lack."""
    if unknown := _absent(predictions[on], truth[on]):
        hint = _other_type(predictions, truth, on)
        raise InvalidSubmission(f"{counted(len(unknown), f'unexpected {on}')}: {listed(unknown)}{hint}")


def sorted_alike(frame: DataFrame, answers: DataFrame, on: str, *, compare: bool = True) -> tuple[DataFrame, DataFrame]:
    """``(truth, predictions)``, with rows paired as if both tables were sorted by ``on`` with pandas' default sort.

    They are only sorted if that matters (repeated ids, other types), else they have the answers' order. ``compare``:
    raise InvalidSubmission unless both have the same ids equally often.
    """
    places = _places(frame[on], answers[on])
    if places is not None:
        return renumbered(answers), _taken(frame, places)
    truth = answers.sort_values(on).reset_index(drop=True)
    try:
        predictions = _sorted(frame, on)
    except TypeError:
        raise InvalidSubmission(
            f"{on} mixes text and numbers{_other_type(frame, answers, on)}, so its rows cannot be sorted"
        ) from None
    if compare:
        _refuse_other_ids(predictions, truth, on)
    return truth, predictions


def joined(frame: DataFrame, answers: DataFrame, on: str) -> tuple[DataFrame, DataFrame]:
    """``(truth, predictions)``: each row of the submission with each answer of its id, in the submission's order."""
    import pandas as pd

    found = _found(frame[on], answers[on])
    if found is not None:
        return renumbered(answers.iloc[found]), renumbered(frame)
    codes = {value: code for code, value in enumerate(answers[on].drop_duplicates().tolist())}
    asked = pd.DataFrame({"id": [codes.get(value, -2) for value in answers[on].tolist()], "truth": range(len(answers))})
    given = pd.DataFrame(
        {"id": [codes.get(value, -1) for value in frame[on].tolist()], "predictions": range(len(frame))}
    )
    pairs = given.merge(asked, on="id")
    return (
        answers.iloc[pairs["truth"].to_numpy()].reset_index(drop=True),
        _taken(frame, pairs["predictions"].to_numpy()),
    )


def _found(ids: Series, among: Series) -> NDArray[np.intp] | slice | None:
    """The position of each id in ``among``, if those are distinct, of the same type, and have all ids; else None."""
    import pandas as pd

    index = pd.Index(among)
    texts = [side for side in (ids, among) if side.dtype == object]
    if ids.dtype != among.dtype or any(pd.api.types.infer_dtype(side, skipna=False) != "string" for side in texts):
        return None  # Python decides what is equal
    if ids.hasnans or not index.is_unique:
        return None
    if len(ids) == len(among) and (ids.to_numpy() == among.to_numpy()).all():
        return slice(None)
    places = index.get_indexer(ids)
    return None if (places < 0).any() else places


def _taken(frame: DataFrame, places: NDArray[np.intp] | slice) -> DataFrame:
    """These rows in this order, indexed 0, 1, 2 ..."""
    if isinstance(places, slice):
        return renumbered(frame)  # all rows
    predictions = frame.iloc[places].reset_index(drop=True)
    keep_places(predictions, places)
    return predictions


def renumbered(frame: DataFrame) -> DataFrame:
    """The rows indexed 0, 1, 2 ..., without copying cells if they already are."""
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex) and frame.index.equals(pd.RangeIndex(len(frame))):
        return frame.copy(deep=False)
    return frame.reset_index(drop=True)


def _sorted(frame: DataFrame, on: str) -> DataFrame:
    """Rows in pandas' default order of ``on``, indexed 0, 1, 2 ... Raises TypeError for ids of mixed types."""
    import pandas as pd

    ordered = frame.sort_values(on)
    predictions = ordered.reset_index(drop=True)
    if isinstance(frame.index, pd.RangeIndex):  # else the first cells name the rows
        keep_places(predictions, ordered.index.to_numpy())
    return predictions


def _places(predictions: Series, truth: Series) -> NDArray[np.intp] | slice | None:
    """The position in the submission of each id of the answers, if sorting both would pair the same rows; else None.

    It would if both have the same ids of one type in the same order, or the same distinct ids.
    """
    import pandas as pd

    ids, asked = predictions.to_numpy(), truth.to_numpy()
    if ids.dtype != asked.dtype or predictions.hasnans:
        return None
    if ids.dtype == object and pd.api.types.infer_dtype(predictions, skipna=False) != "string":
        return None  # mixed types may not be sortable: let the sort decide
    if (ids == asked).all():
        return slice(None)
    index = pd.Index(predictions)
    if not index.is_unique or not truth.is_unique:
        return None
    places = index.get_indexer(truth)
    return None if (places < 0).any() else places


def _refuse_other_ids(predictions: DataFrame, truth: DataFrame, on: str) -> None:
    """Raises InvalidSubmission if the ids of two sorted tables differ."""
    import numpy as np

    different = np.asarray(predictions[on].to_numpy() != truth[on].to_numpy())
    if not different.any():
        return
    require_same_ids(predictions, truth, on)
    asked = truth[on].value_counts()
    given = predictions[on].value_counts()
    often = [name for name, times in given.items() if times > asked.get(name, 0)]
    expected = asked.get(often[0], 0) if often else 0
    raise InvalidSubmission(
        f"{counted(len(often), on)} repeated too often: {listed(often)}"
        + (f"; {shown(often[0])} is in {given[often[0]]:,} rows, expected {expected:,}" if often else "")
    )


def _absent(here: Series, there: Series) -> list[Any]:
    """The distinct values of ``here`` that ``there`` lacks, in order of appearance; 1, 1.0 and True are equal."""
    if len(here) == len(there) and here.dtype == there.dtype and (here.to_numpy() == there.to_numpy()).all():
        return []
    distinct = here.drop_duplicates()
    have = set(there.drop_duplicates().tolist())
    return [value for value in distinct.tolist() if value not in have]


def _in_order(ids: Sequence[Any]) -> list[Any]:
    """Sorted, because check (sample) and grade (answers) see different orders and must name the same ids."""
    try:
        return sorted(ids)
    except TypeError:
        return sorted(ids, key=str)


def _other_type(predictions: DataFrame, truth: DataFrame, on: str) -> str:
    """A hint if ids are numbers on one side and text on the other."""
    if len(predictions) == 0 or len(truth) == 0 or (predictions[on].dtype == object) == (truth[on].dtype == object):
        return ""
    kind = "text" if truth[on].dtype == object else "numbers"
    return f" (expected {kind}, such as {shown(_in_order(truth[on].tolist())[0])})"
