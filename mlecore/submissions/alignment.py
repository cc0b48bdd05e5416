"""From a submission to arrays that a formula takes: columns, ids, numbers, labels, texts. What is wrong is said.

A competition's ``grade`` begins with these and ends with a metric::

    answers = read_answers(private / "test.csv", ["id", "has_cactus"])
    truth, guess = aligned(submission, answers, on="id", columns=["has_cactus"])
    return roc_auc(truth["has_cactus"], numbers(guess, "has_cactus", low=0, high=1))

``aligned`` pairs the rows, and a validator of ``mlecore.submissions.values`` (``numbers``, ``labels``, ``integers``,
``texts``) turns columns into arrays. Each refuses with InvalidSubmission that names the first offending rows; the
generic check of the ``[submission]`` table stands on the same functions, so check and grade cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import GradingError, InvalidSubmission
from mlecore.submissions.messages import ID, counted, listed, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

    from mlecore.submissions.table import Table


def read_answers(path: Path, columns: Sequence[str] = ()) -> DataFrame:
    """These columns of the answers (none named: all), typed as submissions are. Raises GradingError without them.

    Answers often are the whole test table: of its other columns nothing is made.
    """
    import pandas as pd

    wanted = set(columns)
    try:
        answers: DataFrame = pd.read_csv(
            path, float_precision="round_trip", usecols=wanted.__contains__ if wanted else None
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
    """The submission's table, with its rows as in the file; refused where it lacks one of ``columns``.

    ``only``: any other column is refused too. Their order is free.
    """
    frame = submission.frame()
    found = list(frame.columns)
    if missing := [column for column in columns if column not in frame.columns]:
        if not found:
            raise InvalidSubmission(f"the submission is empty; expected the columns {listed(columns)}")
        near = {str(name).strip().lower(): name for name in found}
        hints = [near[column.strip().lower()] for column in missing if column.strip().lower() in near]
        hint = f" (names must be the same to the letter, unlike {listed(hints)})" if hints else ""
        raise InvalidSubmission(
            f"the submission lacks {counted(len(missing), 'column')}: {listed(missing)}{hint}; it has {listed(found)}"
        )
    if only and (extra := [column for column in found if column not in set(columns)]):
        raise InvalidSubmission(
            f"the submission has {counted(len(extra), 'column')} that may not be there: {listed(extra)}; "
            f"expected only {listed(columns)}"
        )
    return frame


def same_count(guess: DataFrame, truth: DataFrame) -> None:
    """Refuses another number of rows than the answers'."""
    if len(guess) != len(truth):
        raise InvalidSubmission(f"the submission has {counted(len(guess), 'row')}; expected {len(truth):,}")


def same_ids(guess: DataFrame, truth: DataFrame, on: str) -> None:
    """Refuses an id that the answers lack, and lacking one of theirs; how often each comes is not looked at."""
    known_ids(guess, truth, on)
    if absent := _absent(truth[on], guess[on]):
        raise InvalidSubmission(f"the submission lacks {counted(len(absent), on)}: {listed(absent)}")


def known_ids(guess: DataFrame, truth: DataFrame, on: str) -> None:
    """Refuses an id that the answers lack."""
    if unknown := _absent(guess[on], truth[on]):
        hint = _other_type(guess, truth, on)
        raise InvalidSubmission(f"{counted(len(unknown), on)} not asked for: {listed(unknown)}{hint}")


def aligned(
    submission: Table,
    answers: DataFrame,
    on: str,
    columns: Sequence[str] = (),
    *,
    only: bool = False,
    compare: bool = True,
) -> tuple[DataFrame, DataFrame]:
    """``(truth, guess)``: answers and submission with their rows paired, both indexed 0, 1, 2, ...

    The submission must have ``on`` and ``columns`` (``only``: and no other), as many rows as the answers, and the same
    ids each as often. Rows meet as if both tables were sorted by ``on`` with pandas' default sort, as published, and
    then paired by place; they are sorted only where that matters (repeated ids, other types), and else stand in the
    answers' order. ``compare=False`` pairs without comparing ids.

    Raises InvalidSubmission; also for ids of mixed types, which cannot be sorted.
    """
    frame = columns_of(submission, [on, *columns], only=only)
    if on not in answers.columns:
        raise GradingError(f"the answers lack the column {on!r}", fix="Prepare the competition again.")
    same_count(frame, answers)
    places = _places(frame[on], answers[on])
    if places is not None:
        truth, guess = answers.reset_index(drop=True), frame.iloc[places].reset_index(drop=True)
    else:
        truth = answers.sort_values(on).reset_index(drop=True)
        try:
            guess = frame.sort_values(on).reset_index(drop=True)
        except TypeError:
            raise InvalidSubmission(
                f"{on} mixes text and numbers{_other_type(frame, answers, on)}, so its rows cannot be sorted"
            ) from None
        if compare:
            _refuse_other_ids(guess, truth, on)
    guess.attrs[ID] = on
    return truth, guess


def paired(
    submission: Table, answers: DataFrame, columns: Sequence[str], *, only: bool = False
) -> tuple[DataFrame, DataFrame]:
    """``(truth, guess)`` paired by place in the file, ids unseen. Raises InvalidSubmission as ``aligned`` does."""
    frame = columns_of(submission, columns, only=only)
    same_count(frame, answers)
    return answers.reset_index(drop=True), frame.reset_index(drop=True)


def _places(guess: Series, truth: Series) -> NDArray[np.intp] | slice | None:
    """Where in the submission each of the answers' ids stands, if that is what sorting both would come to, else None.

    It is where the ids are of one type and stand in one order, or are distinct on both sides and the same.
    """
    import pandas as pd

    if guess.dtype != truth.dtype or guess.hasnans:
        return None
    if guess.dtype == object and pd.api.types.infer_dtype(guess, skipna=False) != "string":
        return None  # mixed types may not be sortable: let the sort decide
    if (guess.to_numpy() == truth.to_numpy()).all():
        return slice(None)
    index = pd.Index(guess)
    if not index.is_unique or not truth.is_unique:
        return None
    places = index.get_indexer(truth)
    return None if (places < 0).any() else places


def _refuse_other_ids(guess: DataFrame, truth: DataFrame, on: str) -> None:
    """Both are sorted by ``on``: refuse where the ids differ anywhere."""
    import numpy as np

    different = np.asarray(guess[on].to_numpy() != truth[on].to_numpy())
    if not different.any():
        return
    same_ids(guess, truth, on)
    asked = truth[on].value_counts()
    given = guess[on].value_counts()
    often = [name for name, times in given.items() if times > asked.get(name, 0)]
    expected = asked.get(often[0], 0) if often else 0
    raise InvalidSubmission(
        f"{counted(len(often), on)} repeated too often: {listed(often)}"
        + (f"; {shown(often[0])} stands in {given[often[0]]:,} rows, expected {expected:,}" if often else "")
    )


def _absent(here: Any, there: Any) -> list[Any]:
    """The distinct values of ``here`` that ``there`` lacks, in order of appearance; 1, 1.0 and True are one value."""
    distinct = here.drop_duplicates()
    have = set(there.drop_duplicates().tolist())
    return [value for value in distinct.tolist() if value not in have]


def _other_type(guess: DataFrame, truth: DataFrame, on: str) -> str:
    """A hint where ids are numbers on one side and text on the other."""
    if len(guess) == 0 or len(truth) == 0 or (guess[on].dtype == object) == (truth[on].dtype == object):
        return ""
    kind = "text" if truth[on].dtype == object else "numbers"
    return f" (expected {kind}, such as {shown(truth[on].iloc[0])})"
