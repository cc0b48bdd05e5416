"""By what rows may be grouped: columns of both parts' tables, and parts of ids and file names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of
from mlecore_audit.training import TableRows, joined
from mlecore_audit.twins.tables import common_columns, is_text

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_ROWS = 1_000_000  # of a part that are looked at
_AT_ONCE = 32  # columns
_ID = re.compile(
    r"(^|[_ ])(id|no|nr|idx|index|group)s?$|[a-z]id$|name|user|patient|subject|session|speaker", re.IGNORECASE
)
_UNIT = re.compile(
    r"(^|[_. ])(patient|subject|participant|respondent|person|individual|user|customer|client|member|student|household"
    r"|family|donor|animal|speaker|session|account|device)s?($|[_. ])",
    re.IGNORECASE,
)
_PIECES = re.compile(r"[^\W_]+")
_MOST_PIECES = 12


@frozen
class Grouping:
    """Values by which rows may be grouped; equal ones are a group."""

    file: str
    name: str  # "column 'anchor'", "part 2 of ids"
    column: str | None  # of a table; None: a part of a name
    is_id: bool  # no input of an honest model
    is_unit: bool  # what data are collected from, such as a patient
    is_number: bool
    looked: str  # what was looked at, if not all
    test: Series[float]  # index: test keys; numbers, or hashes of words
    train: Series[float]


def groupings(subject: Subject) -> Iterator[Grouping]:
    for test in subject.tables("test"):
        for train in subject.tables("train"):
            if test.key and train.key:
                yield from _of_tables(subject, test, train)
    yield from _of_names(subject)


def _of_tables(subject: Subject, test: TableRows, train: TableRows) -> Iterator[Grouping]:
    subject.progress(0, 0, f"looking for groups in {train.where}")
    columns = [
        column
        for column in common_columns(test, train)
        if not is_text(test.head[column]) and not _is_fraction(test.head[column])
    ]
    for first in range(0, len(columns), _AT_ONCE):
        some = columns[first : first + _AT_ONCE]
        numeric = {column: _is_number(test.head[column]) and _is_number(train.head[column]) for column in some}
        values = [_values(table, numeric) for table in (test, train)]
        looked = f" (in the first {_ROWS:,} rows of a table)" if max(map(len, values)) >= _ROWS else ""
        for column in some:
            is_unit = bool(_UNIT.search(column))
            yield Grouping(
                train.where,
                f"column {column!r}",
                column,
                is_unit or bool(_ID.search(column)),
                is_unit,
                numeric[column],
                looked,
                *(frame[column].dropna() for frame in values),
            )


def _is_fraction(column: Series[str]) -> bool:
    return bool(column.str.contains(r"^-?\d+\.\d*[1-9]|e-?\d+$", regex=True).mean() > 0.1)


def _is_number(column: Series[str]) -> bool:
    return not np.isnan(numbers_of(column[column != ""])).any()


def _values(table: TableRows, numeric: Mapping[str, bool]) -> DataFrame:
    """Columns as numbers, words as their hashes, by key, in the first rows; nothing is NaN. 8 bytes a cell."""
    import pandas as pd

    pieces, rows = [], 0
    for batch in table.batches(dict.fromkeys((*table.key, *numeric))):
        columns = {}
        for column, is_number in numeric.items():
            text = batch[column]
            hashed = numbers_of(text) if is_number else pd.util.hash_array(text.to_numpy(object)).view("i8") / 2.0
            columns[column] = np.where(text == "", np.nan, hashed)
        pieces.append(pd.DataFrame(columns, joined(batch, table.key).to_numpy()))
        rows += len(batch)
        if rows >= _ROWS:
            break
    values = pd.concat(pieces)
    return values[~values.index.duplicated()]


def _of_names(subject: Subject) -> Iterator[Grouping]:
    """Parts of keys and of file names, counted from the left, where both parts of the data have such names."""
    train = [] if subject.train is None else subject.train.index.astype(str)
    yield from _pieces("ids", subject.facts.answers, {k: k for k in subject.answers.index}, {k: k for k in train})
    test_files, train_files = (
        {key: PurePosixPath(items[0].inner).stem for key, items in subject.items(part).items()}
        for part in ("test", "train")
    )
    if any(name not in (key, PurePosixPath(key).stem) for key, name in (*test_files.items(), *train_files.items())):
        yield from _pieces("file names", "public", test_files, train_files)


def _pieces(what: str, where: str, test: Mapping[str, str], train: Mapping[str, str]) -> Iterator[Grouping]:
    """One for each part that all names have."""
    import pandas as pd

    parts = [{key: _PIECES.findall(name) for key, name in names.items()} for names in (test, train)]
    lengths = {len(pieces) for part in parts for pieces in part.values()}
    if not test or not train or lengths == {1}:
        return
    for place in range(min(*lengths, _MOST_PIECES)):
        values = [pd.Series({key: pieces[place] for key, pieces in part.items()}, dtype=object) for part in parts]
        numeric = all(map(_is_number, values))
        hashes = [
            numbers_of(each) if numeric else pd.util.hash_array(each.to_numpy()).view("i8") / 2.0 for each in values
        ]
        series = (pd.Series(hashed, each.index) for hashed, each in zip(hashes, values, strict=True))
        yield Grouping(where, f"part {place + 1} of {what}", None, True, False, numeric, "", *series)
