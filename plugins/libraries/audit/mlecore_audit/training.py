"""The labels of training rows, found in public tables, in the form of the answers; and the tables of both parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from mlecore_audit.tables import Batches

if TYPE_CHECKING:
    from pandas import DataFrame, Index, Series

_SEPARATORS = re.compile(r"[\s,;|]+")  # in a cell with several classes
_PROBE = 2000  # rows by which a table is judged
_SHARE = 0.5  # of the probe's keys that must be test keys, for a table of test rows

Role = Literal["train", "test"]


@frozen
class TableRows:
    """A public table with a row for each training or test item."""

    where: str  # "public/x.zip!train.csv"
    role: Role
    key: tuple[str, ...]  # its columns that name the row
    labels: tuple[str, ...]  # its columns that hold what is to be predicted
    batches: Callable[[], Batches]  # in file order, every cell as text; see ``tables.typed``


def role_of(
    frame: DataFrame, keys: Sequence[str], targets: Sequence[str], answers: DataFrame
) -> tuple[Role, tuple[str, ...], tuple[str, ...]] | None:
    """What part a table belongs to, by its first rows: (role, key columns, label columns); None: neither."""
    probe = frame.head(_PROBE)
    key = key_columns(probe, keys, answers.index)
    labels = label_columns(probe, targets, answers)
    if key and joined(probe, key).isin(answers.index).mean() >= _SHARE:
        return "test", key, labels
    if not labels:
        return None
    if not key:
        own = [c for c in probe.columns if c not in labels and probe[c].is_unique and len(probe) > 1]
        key = tuple(own[:1])
    return "train", key, labels


def key_columns(frame: DataFrame, keys: Sequence[str], ids: Index[str]) -> tuple[str, ...]:
    """The columns that name rows: of the submission's names; else the one whose values are keys of test rows."""
    if set(keys) <= set(frame.columns):
        return tuple(keys)
    if len(keys) == 1:
        for column in frame.columns:
            if frame[column].isin(ids).mean() >= _SHARE:
                return (column,)
    return ()


def label_columns(frame: DataFrame, targets: Sequence[str], answers: DataFrame) -> tuple[str, ...]:
    """The columns that hold what is to be predicted: of the targets' names, or one with their names or classes."""
    if set(targets) <= set(frame.columns):
        return tuple(targets)
    if len(targets) > 1:
        found = [c for c in frame.columns if _among(frame[c], set(targets))]
    else:
        classes = set(answers[targets[0]].unique())
        texts = {c for c in classes if not c.replace(".", "").replace("-", "").isdigit()}
        found = [c for c in frame.columns if len(texts) > 1 and _among(frame[c], texts)]
    return tuple(found) if len(found) == 1 else ()


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


def _among(column: Series[str], names: set[str]) -> bool:
    """Are its cells names, or lists of names?"""
    known = column.map(lambda cell: bool(cell) and all(word in names for word in _words(cell, names)))
    return bool(known.mean() > 0.9) and column.nunique() > 1


def _words(cell: str, names: set[str]) -> list[str]:
    return [cell] if cell in names else [word for word in _SEPARATORS.split(cell) if word]
