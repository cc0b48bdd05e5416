"""Tables without names of rows: do their columns hold the answers in an order that one can guess, in any, or some?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlecore_audit.finding import Finding
from mlecore_audit.match import LONG, match
from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_COLUMNS = 200  # of a table that are compared
_MOST = 2_000_000  # rows
_FEWEST = 10  # rows
_SOME = 0.1  # of the test rows whose texts a table holds among others


class Nameless:
    """Collects a table of as many rows as there are answers."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._frames: list[DataFrame] | None = [] if _FEWEST <= len(subject.answers) <= _MOST else None

    def add(self, frame: DataFrame) -> None:
        """One more batch; a table that is too long is given up."""
        if self._frames is not None:
            self._frames.append(frame)
            if sum(map(len, self._frames)) > len(self._subject.answers):
                self._frames = None

    def findings(self, where: str) -> Iterator[Finding]:
        import pandas as pd

        subject = self._subject
        if not self._frames or where == subject.facts.sample:
            return
        table = pd.concat(self._frames, ignore_index=True)
        if len(table) == len(subject.answers) - 1:  # its first row was taken for its header
            table = pd.concat([pd.DataFrame([list(table.columns)], columns=table.columns), table], ignore_index=True)
        if len(table) != len(subject.answers):
            return
        orders = guessable(subject)
        for target in subject.truths.columns[:10]:
            contents = _content(subject.truths[target])
            for column in list(table.columns)[:_COLUMNS]:
                if _content(table[column]) == contents and len(set(contents)) > 1:
                    yield from self._compare(where, target, str(column), table[column], orders)

    def _compare(
        self, where: str, target: str, name: str, column: Series[str], orders: dict[str, list[str]]
    ) -> Iterator[Finding]:
        subject = self._subject
        for order, keys in orders.items():
            truth = subject.truths[target].loc[keys]
            found = match(truth, column.set_axis(keys), len(orders))
            if found is not None and found.relation == "equal":
                score = subject.score(subject.as_targets(target, found.predictions))
                evidence = f"its column {name!r} is {target!r} of the answers, in {order}"
                yield Finding(level="answer", kind="values", file=where, evidence=evidence, score=score)
                return
        if subject.truths[target].nunique() > len(column) / 2:
            evidence = f"its column {name!r} contains the {len(column):,} values of {target!r} in a different order"
            yield Finding(level="leak", kind="values", file=where, evidence=evidence)


class Loose:
    """Finds long texts to predict in a table that names no test rows: who has them only has to choose."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._held: dict[tuple[str, str], set[str]] = {}

    def add(self, frame: DataFrame) -> None:
        for target, wanted in self._wanted.items():
            for column in list(frame.columns)[:_COLUMNS]:
                if held := wanted.intersection(frame[column].tolist()):
                    self._held.setdefault((str(column), target), set()).update(held)

    @cached_property
    def _wanted(self) -> dict[str, frozenset[str]]:
        """By target the texts that no training row has, where most test rows have a text of their own."""
        found = {}
        for target in self._subject.truths.columns[:10]:
            truth = self._subject.truths[target]
            texts = {text for text in truth if len(text) >= LONG and np.isnan(numbers_of([text])[0])}
            if len(texts) > len(truth) / 2:
                train = self._subject.train
                found[target] = frozenset(texts - set(() if train is None else train.get(target, ())))
        return found

    def findings(self, where: str) -> Iterator[Finding]:
        for (column, target), held in self._held.items():
            if len(held) >= max(_FEWEST, _SOME * len(self._subject.answers)):
                evidence = f"its column {column!r} holds {len(held):,} texts of {target!r} that no training row has"
                yield Finding(level="caution", kind="values", file=where, evidence=evidence)
        self._held = {}


def guessable(subject: Subject) -> dict[str, list[str]]:
    """Orders of the test keys that one can guess: the answers', the sample's, by name, by number; and backwards."""
    answers = subject.answers
    numbers = numbers_of(answers.index)
    sample = [key for key in dict.fromkeys(subject.sample.index) if key in answers.index]
    orders = {
        "the order of the answers": list(answers.index),
        "the order of the names": sorted(answers.index),
        "the order of the numbers": list(answers.index[np.argsort(numbers, kind="stable")]),
        "the sample's order": sample if len(sample) == len(answers) else list(answers.index),
    }
    found: dict[tuple[str, ...], str] = {}
    for name, order in orders.items():
        found.setdefault(tuple(order), name)
        found.setdefault(tuple(order[::-1]), f"{name}, backwards")
    return {name: list(order) for order, name in found.items()}


def _content(column: Series[str]) -> list[object]:
    """What a column holds, in whatever order: its numbers, or its texts."""
    numbers = numbers_of(column)
    return sorted(column) if np.isnan(numbers).any() else sorted(numbers.tolist())
