"""Columns of public tables, and fields of metadata, that hold the answers of the rows that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mlecore_audit.fields import Fields, table_of
from mlecore_audit.finding import Finding, Level, flag
from mlecore_audit.match import Match, match
from mlecore_audit.subject import CLASS, Subject

if TYPE_CHECKING:
    from pandas import DataFrame

_WORDS = {
    "equal": "is {target} of the answers",
    "linear": "is {target} of the answers, scaled",
    "relabelled": "names {target} of the answers, under other names",
    "monotonic": "has the order of {target} of the answers",
    "certain": "tells {target} of the answers wherever it has another value than its most frequent one",
    "nearly": "alone tells {target} of the answers with {degree}",
}
_WORTH = 0.1  # gain of a submission from which on a sign of some rows is a leak
_SHOWN = 3  # columns that a finding names
_WORD = re.compile(r"[\w.+-]+")
_OF_TEXT = ", word "
_MOST_WORDS = 20  # of a text that are columns of their own


class Columns:
    """Collects the test rows of one table, or of several files that are alike but for digits, and compares them."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._tried = 0
        self._files: list[str] = []
        self._pattern = ""
        self._rows: dict[str, list[DataFrame]] = {}

    def starts(self, where: str, pattern: str) -> Iterator[Finding]:
        """Another table begins; yields the findings of what came before it, unless both are alike."""
        if pattern != self._pattern:
            yield from self.ends()
        self._pattern = pattern
        self._files.append(where)

    def add(self, key: str, rows: DataFrame) -> None:
        """Rows of the current table by their keys; ``key``: the column that names them."""
        self._rows.setdefault(key, []).append(rows)

    def ends(self) -> Iterator[Finding]:
        import pandas as pd

        for key, parts in self._rows.items():
            rows = pd.concat(parts).fillna("")
            rows = rows[~rows.index.duplicated()]
            yield from self._compare(self._files, rows.drop(columns=[key, *self._subject.keys], errors="ignore"))
        self._rows, self._files = {}, []

    def of_metadata(self, example: str, fields: Mapping[str, Fields]) -> Iterator[Finding]:
        """The same for the fields of items, by key."""
        frame = table_of({key: with_words(own) for key, own in fields.items()}, without="#")
        if len(frame.columns):
            yield from self._compare([example], frame, "field")

    def _compare(self, files: list[str], rows: DataFrame, word: str = "column") -> Iterator[Finding]:
        truths = self._subject.truths
        rows = rows.loc[truths.index.intersection(rows.index)]
        found: dict[str, list[tuple[str, str, Match]]] = {}
        whole: set[tuple[str, str]] = set()  # (column, target): the words of such a text tell nothing new
        for target in truths.columns:
            truth = truths.loc[rows.index, target]
            for column in rows.columns:
                if len(truths.columns) > 10 and column not in (target, CLASS) and target != CLASS:
                    continue  # of many targets, each with the column of its own name
                if (str(column).rpartition(_OF_TEXT)[0], target) in whole:
                    continue
                self._tried += 1
                if (one := match(truth, rows[column], self._tried)) is not None:
                    found.setdefault(one.relation, []).append((str(column), target, one))
                    whole.add((str(column), target))
        for relation, matches in found.items():
            yield self._finding(files, relation, matches, word)

    def _finding(self, files: list[str], relation: str, matches: list[tuple[str, str, Match]], word: str) -> Finding:
        subject, cells = self._subject, None
        for _, target, one in matches:
            own = subject.as_targets(target, one.predictions)
            cells = own if cells is None else cells.assign(**{c: own[c] for c in own if c not in cells})
        assert cells is not None
        score = subject.score(cells)
        said = [
            f"{word} {c!r} {_WORDS[relation].format(target=repr(t), degree=m.degree)}" for c, t, m in matches[:_SHOWN]
        ]
        rows = max(one.rows for *_, one in matches)
        more = f", and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
        also = f"; so in {len(files)} files" if len(files) > 1 else ""
        evidence = f"its {'; its '.join(said)}{more}, in {rows:,} of {len(subject.answers):,} test rows{also}"
        level = self._level(relation, score)
        columns = list(dict.fromkeys(column for column, *_ in matches))
        fix = f"leave it out: {flag('drop', columns)}" if word == "column" and len(columns) <= _SHOWN else None
        return Finding(level=level, kind="values", file=files[0], evidence=evidence, score=score, fix=fix)

    def _level(self, relation: str, score: float | None) -> Level:
        if relation in ("equal", "linear", "relabelled"):
            return "answer"
        return "caution" if relation == "certain" and self._subject.gain(score) < _WORTH else "leak"


def with_words(fields: Fields) -> Fields:
    """Each text, and each word of a text with several: ``{"Note": "ring=1 7", "Note, word 2": "1", ...}``."""
    found = dict(fields)
    for name, text in fields.items():
        words = _WORD.findall(text) if isinstance(text, str) else []
        if 1 < len(words) <= _MOST_WORDS:
            found |= {f"{name}{_OF_TEXT}{place}": word for place, word in enumerate(words, 1)}
    return found
