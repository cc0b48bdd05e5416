"""Columns and parts of names whose values never or always cross the split, and what splitting by them would change.

A group is what several rows share: a patient, a speaker, a page. A quantity is no group, though many rows have the same
age: a quantity's neighbouring values tell the label as well as the value itself. What other columns hold is an honest
input, so that only an id, or a part of one, is ever a leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from mlecore_audit.copying import as_numbers, best_score
from mlecore_audit.finding import Finding, flag
from mlecore_audit.groups.groupings import Grouping, groupings
from mlecore_audit.subject import Subject

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEWEST_GROUPS = 20
_LARGEST = 0.02  # of all rows: what more rows share is a class or a missing value
_LARGEST_UNIT, _FEWEST_UNITS = 0.1, 10  # of things that data are collected from, by a column's name
_SMALL = 10  # rows, which are a group among however few
_SMALLEST = 1.5  # rows of a group, on average
_NEVER = 0.02  # share of test rows with their group in train
_EXPECTED = 0.2  # such a share in a random split, for its absence to tell something
_TOLD = 0.05  # of the labels' spread that copying must explain, for a score to be worth computing
_SCORED = 8  # columns whose score is computed, those that tell most first
_OWN = 0.6  # of what a value tells that its neighbours tell too: then it is a quantity


@frozen
class Crossing:
    """How groups lie across the split."""

    grouping: Grouping
    count: int  # of groups
    share: float  # of the test rows with their group in train
    expected: float  # such a share if rows were split at random


def examine(subject: Subject) -> Iterator[Finding]:
    """A finding for each column or name part by which rows are grouped, apart from quantities."""
    crossing: list[tuple[float, Crossing]] = []
    for grouping in groupings(subject):
        found = crossing_of(grouping)
        if found is None:
            continue
        if found.share <= _NEVER and found.expected >= _EXPECTED:
            yield Finding(level="note", kind="groups", file=grouping.file, evidence=_apart(found))
        elif found.share > _NEVER and (told := _told(subject, found)) >= _TOLD:
            crossing.append((told, found))
        elif found.share > _NEVER:
            yield from _crossed(found)
    for _, found in sorted(crossing, key=lambda each: -each[0])[:_SCORED]:
        score = score_of_groups(subject, found)
        gain = subject.gain(score)
        if gain <= 0:
            yield from _crossed(found)
        elif not _is_quantity(subject, found, gain):
            level = subject.level_of(score)
            if level == "leak" and not found.grouping.is_id:
                level = "caution"
            yield Finding(
                level=level,
                kind="groups",
                file=found.grouping.file,
                evidence=f"{_shared(found)}; copied is the group's usual label",
                score=score,
                fix=_fix(found),
            )
        elif found.grouping.column is None:  # a number in an id is no quantity that a model may use
            yield from _crossed(found)


def _crossed(found: Crossing) -> Iterator[Finding]:
    """A note on an id by which the split does not go, though its groups tell nothing of labels."""
    if found.grouping.is_id and found.expected >= _EXPECTED:
        yield Finding(level="note", kind="groups", file=found.grouping.file, evidence=_shared(found))


def crossing_of(grouping: Grouping) -> Crossing | None:
    """None if the values make no groups: few values, or one for nearly every row."""
    import pandas as pd

    test, train = grouping.test, grouping.train
    both = pd.concat([test, train], ignore_index=True)
    size = both.value_counts()
    largest, fewest = (_LARGEST_UNIT, _FEWEST_UNITS) if grouping.is_unit else (_LARGEST, _FEWEST_GROUPS)
    size = size[size <= max(largest * len(both), _SMALL)]
    test, train, both = (column[column.isin(size.index)] for column in (test, train, both))
    if min(len(test), len(train)) == 0 or len(size) < fewest or len(both) < _SMALLEST * len(size):
        return None
    others = test.map(size).to_numpy(float) - 1
    expected = float(np.mean(1 - (len(test) / len(both)) ** others))
    share = float(test.isin(set(train)).mean())
    return Crossing(evolve(grouping, test=test, train=train), len(size), share, expected)


def majority(labels: DataFrame, groups: Series[float], how: str = "mean") -> DataFrame:
    """Per group the mean of numeric labels, or the most frequent ones (``how="mode"``)."""
    import pandas as pd

    shared = labels.index.intersection(groups.index)
    labels, groups = labels.loc[shared], groups.loc[shared]
    if how == "mean":
        numbers = as_numbers(labels)
        if numbers is not None:
            return numbers.groupby(groups.to_numpy()).mean()
    columns = {}
    for column in labels.columns:
        counts = pd.DataFrame({"group": groups, "label": labels[column]}).value_counts(sort=True).reset_index()
        columns[column] = counts.drop_duplicates("group").set_index("group")["label"]
    return pd.DataFrame(columns)


def score_of_groups(subject: Subject, crossing: Crossing, groups: Series[float] | None = None) -> float | None:
    """Score of a submission that copies labels from each row's group in train; ``groups``: by test key, if others."""
    assert subject.train is not None
    groups = crossing.grouping.test if groups is None else groups
    scores = []
    for how in ("mean", "mode"):
        label = majority(subject.train, crossing.grouping.train, how)
        known = groups[groups.isin(label.index)]
        scores.append(best_score(subject, label.loc[known].set_axis(known.index, axis=0).astype(str)))
    return max((score for score in scores if score is not None), key=subject.gain, default=None)


def _told(subject: Subject, crossing: Crossing) -> float:
    """What share of the spread of the test labels is explained by their group's label in train; 0 without labels."""
    if subject.train is None:
        return 0.0
    label = majority(subject.train, crossing.grouping.train)
    known = crossing.grouping.test[
        crossing.grouping.test.isin(label.index) & crossing.grouping.test.index.isin(subject.answers.index)
    ]
    if known.empty:
        return 0.0
    predicted, truth = label.loc[known], subject.answers.loc[known.index]
    weight = len(known) / len(subject.answers)
    numbers = as_numbers(truth)
    if numbers is not None and all(dtype.kind == "f" for dtype in predicted.dtypes):
        values = numbers[predicted.columns].to_numpy()
        error = ((values - predicted.to_numpy()) ** 2).sum()
        spread = ((values - values.mean(axis=0)) ** 2).sum()
        return weight * max(0.0, 1 - float(error / spread)) if spread else 0.0
    told = []
    for column in predicted.columns:
        usual = (truth[column] == truth[column].mode().iloc[0]).mean()
        right = (truth[column].to_numpy() == predicted[column].to_numpy()).mean()
        told.append((right - usual) / (1 - usual) if usual < 1 else 0.0)
    return weight * max(0.0, float(np.mean(told)))


def _is_quantity(subject: Subject, crossing: Crossing, gain: float) -> bool:
    """Does the nearest other value of the column tell as much as a row's own value?"""
    import pandas as pd

    if not crossing.grouping.is_number:
        return False
    numbers = np.unique(crossing.grouping.train.to_numpy())
    own = crossing.grouping.test.to_numpy()
    right = np.clip(np.searchsorted(numbers, own, "right"), 0, len(numbers) - 1)
    left = np.clip(np.searchsorted(numbers, own, "left") - 1, 0, len(numbers) - 1)
    nearer = np.where(np.abs(numbers[right] - own) < np.abs(numbers[left] - own), right, left)
    nearer = np.where(numbers[nearer] == own, np.where(numbers[right] == own, left, right), nearer)
    neighbours = pd.Series(numbers[nearer], crossing.grouping.test.index)
    return subject.gain(score_of_groups(subject, crossing, neighbours)) >= _OWN * gain


def _fix(found: Crossing) -> str:
    column = found.grouping.column
    if column is None:
        return "split by it, so that no group has rows in both parts"
    return f"split by it, so that no group has rows in both parts: {flag('group', [column])}"


def _apart(found: Crossing) -> str:
    return (
        f"{found.grouping.name} has {found.count:,} groups of rows, and {found.share:.1%} of test rows have "
        f"their group in train, where a random split would give {found.expected:.0%}: "
        f"the split goes by it, and so should validation{found.grouping.looked}"
    )


def _shared(found: Crossing) -> str:
    return (
        f"{found.grouping.name} has {found.count:,} groups of rows, and {found.share:.1%} of test rows have their "
        f"group in train (a random split would give {found.expected:.0%}), where a split by it would leave none"
        f"{found.grouping.looked}"
    )
