"""The labels of training rows, found in public tables, in the form of the answers; and the tables of both parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from mlecore_audit.tables import Batches

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_SEPARATORS = re.compile(r"[\s,;|]+")  # in a cell with several classes
_FILE = re.compile(r".*[^/.]\.[A-Za-z]\w{1,4}")
_PROBE = 2000  # rows by which a table is judged
HEAD_ROWS = 500  # of a table that are kept
_SHARE = 0.5  # of the probe's keys that must be test keys, for a table of test rows

Role = Literal["train", "test"]


@frozen
class TableRows:
    """A public table with a row for each training or test item."""

    where: str  # "public/x.zip!train.csv"
    role: Role
    key: tuple[str, ...]  # its columns that name the row
    labels: tuple[str, ...]  # its columns that hold what is to be predicted
    head: DataFrame  # its first rows, at least one
    read: Callable[..., Batches]

    def batches(self, columns: Collection[str] | None = None) -> Batches:
        """All rows in file order, every cell as text (see ``tables.typed``); with ``columns``, only those."""
        return self.read(columns=columns)


def role_of(
    frame: DataFrame, keys: Sequence[str], targets: Sequence[str], ids: Collection[str], classes: Collection[str]
) -> tuple[Role, tuple[str, ...], tuple[str, ...]] | None:
    """What part a table belongs to, by its first rows: (role, key columns, label columns); None: neither.

    ``ids``: the set of test keys; ``classes``: the names of the answers' classes, see ``class_names``.
    """
    probe = frame.head(_PROBE)
    key = key_columns(probe, keys, ids)
    labels = label_columns(probe, targets, classes)
    if key and joined(probe, key).map(ids.__contains__).mean() >= _SHARE:
        return "test", key, labels
    if not labels:
        return None
    if not key:
        own = [c for c in probe.columns if c not in labels and probe[c].is_unique and len(probe) > 1]
        key = tuple(own[:1])
    return "train", key, labels


def key_columns(frame: DataFrame, keys: Sequence[str], ids: Collection[str]) -> tuple[str, ...]:
    """The columns that name rows: of the submission's names; else the one whose values are keys of test rows."""
    if set(keys) <= set(frame.columns):
        return tuple(keys)
    if len(keys) == 1:
        for column in frame.columns:
            if frame[column].map(ids.__contains__).mean() >= _SHARE:
                return (column,)
    return ()


def label_columns(frame: DataFrame, targets: Sequence[str], classes: Collection[str]) -> tuple[str, ...]:
    """The columns that hold what is to be predicted: of the targets' names, or one with names of classes."""
    if set(targets) <= set(frame.columns):
        return tuple(targets)
    found = [c for c in frame.columns if len(classes) > 1 and _among(frame[c], classes)]
    return tuple(found) if len(found) == 1 else ()


def class_names(answers: DataFrame) -> frozenset[str]:
    """What labels are called: the columns of one-hot answers, else the values of the one column that are no numbers."""
    if len(answers.columns) > 1:
        return frozenset(answers.columns)
    values = answers.iloc[:, 0].unique()
    return frozenset(value for value in values if not value.replace(".", "").replace("-", "").isdigit())


def in_target_form(frame: DataFrame, labels: Sequence[str], targets: Sequence[str]) -> DataFrame:
    """Labels of training rows as columns of a submission: names of classes become rows of zeros and ones."""
    import pandas as pd

    if tuple(labels) == tuple(targets):
        return frame[list(targets)]
    column = frame[labels[0]]
    if len(targets) == 1:
        return column.to_frame(targets[0])
    words = column.map(lambda cell: frozenset(_words(cell, set(targets))))
    has = {target: words.map(lambda own, target=target: "1" if target in own else "0") for target in targets}
    return pd.DataFrame(has, frame.index)


def joined(frame: DataFrame, columns: Sequence[str]) -> Series[str]:
    """The key of each row, of several columns with a bar between them."""
    first, *others = columns
    key = frame[first].astype(str)
    for column in others:
        key = key + "|" + frame[column].astype(str)
    return key


def is_of_file_names(column: Series[str]) -> bool:
    """Does it name a file for each row, as ``images/17.png``?"""
    return bool(column.is_unique and column.str.fullmatch(_FILE.pattern).mean() > 0.9)


def _among(column: Series[str], names: Collection[str]) -> bool:
    """Are its cells names, or lists of names?"""
    known = column.map(lambda cell: bool(cell) and all(word in names for word in _words(cell, names)))
    return bool(known.mean() > 0.9) and column.nunique() > 1


def _words(cell: str, names: Collection[str]) -> list[str]:
    return [cell] if cell in names else [word for word in _SEPARATORS.split(cell) if word]
