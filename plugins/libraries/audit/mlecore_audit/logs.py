"""Files of a thing that several test rows belong to, such as the log of a drive: do they hold the rows' answers?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field

from mlecore_audit.columns import SHARE, luck
from mlecore_audit.files import Item
from mlecore_audit.finding import Finding
from mlecore_audit.matching import Matcher, part_of
from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

_CLOSE = 1e-6  # of a column's range: rounding
_DISTINCT = 5  # different answers of a thing, fewer say nothing
_DIGITS = re.compile(r"\d+")


@define
class _Agreement:
    file: str
    bits: float = 0.0
    values: dict[str, float] = field(factory=dict)  # by key
    missed: int = 0


class Logs:
    """Collects, for columns of files of the same name, which answers they hold."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._found: dict[tuple[str, str, str], _Agreement] = {}

    @cached_property
    def _things(self) -> Matcher:
        return Matcher(self._subject.things)

    def thing_of(self, item: Item) -> str | None:
        """The thing whose name an item's path holds; None for training items and all others."""
        return self._things(item.inner) if self._subject.things and part_of(item.inner) != "train" else None

    def add(self, thing: str, item: Item, frame: DataFrame) -> None:
        keys = self._subject.things[thing]
        truths = self._subject.truths.loc[keys]
        name = _DIGITS.sub("#", PurePosixPath(item.name).name)
        for column in frame.columns:
            theirs = numbers_of(frame[column])
            theirs = np.unique(theirs[np.isfinite(theirs)])
            if len(theirs) < _DISTINCT:
                continue
            for target in truths.columns:
                own = numbers_of(truths[target])
                if len(np.unique(own)) >= _DISTINCT and np.isfinite(own).all():
                    agreement = self._found.setdefault((name, str(column), target), _Agreement(item.name))
                    _compare(agreement, keys, own, theirs)

    def findings(self) -> Iterator[Finding]:
        """One finding for each name of files, whatever their columns hold."""
        held: dict[str, dict[str, tuple[str, _Agreement]]] = {}
        for (name, column, target), agreement in self._found.items():
            sure = agreement.bits >= luck(len(self._found))
            if sure and len(agreement.values) >= SHARE * (len(agreement.values) + agreement.missed):
                held.setdefault(name, {}).setdefault(target, (column, agreement))
        for columns in held.values():
            yield self._finding(columns)

    def _finding(self, columns: dict[str, tuple[str, _Agreement]]) -> Finding:
        import pandas as pd

        subject = self._subject
        cells = {
            target: pd.Series({key: repr(value) for key, value in agreement.values.items()}, dtype=str)
            for target, (_, agreement) in columns.items()
        }
        file = next(agreement.file for _, agreement in columns.values())
        rows = max(len(agreement.values) for _, agreement in columns.values())
        said = " and ".join(f"column {column!r} holds {target!r}" for target, (column, _) in columns.items())
        evidence = (
            f"its {said} of the answers, as do files of this name of other test items: {rows:,} of "
            f"{len(subject.answers):,} test rows"
        )
        score = subject.score(pd.DataFrame(cells).dropna())
        return Finding(level="answer", kind="values", file=file, evidence=evidence, score=score)


def _compare(agreement: _Agreement, keys: list[str], own: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    """Which answers are among a file's numbers; chance would put each of them close to one by how dense these are."""
    span = max(theirs[-1] - theirs[0], np.ptp(own))
    tolerance = _CLOSE * max(span, 1e-12) + 1e-9 * np.abs(own).max()
    at = np.clip(np.searchsorted(theirs, own), 1, len(theirs) - 1)
    nearest = np.where(np.abs(theirs[at] - own) < np.abs(theirs[at - 1] - own), theirs[at], theirs[at - 1])
    close = np.abs(nearest - own) <= tolerance * 100
    by_chance = min(1.0, len(theirs) * 200 * tolerance / max(span, 1e-12))
    agreement.bits += -math.log2(max(by_chance, 1e-9)) * len(np.unique(own[close])) if by_chance < 1 else 0.0
    agreement.missed += int((~close).sum())
    agreement.values |= {key: float(nearest[i]) for i, key in enumerate(keys) if close[i]}
