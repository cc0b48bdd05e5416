"""Twins in tables: rows that are equal once rounded, and texts that share most of their phrases."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from mlecore_audit.subject import Subject
from mlecore_audit.tables import typed
from mlecore_audit.training import TableRows, joined
from mlecore_audit.twins.rows import FEWEST_COLUMNS, equal_rows
from mlecore_audit.twins.texts import FEWEST_WORDS, near_texts

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MOST_ROWS = 1_000_000  # of a test table that are compared
MOST_TEXTS = 200_000  # of a part whose texts are compared
_UNIQUE = 0.99  # share of different values that makes a column of whole numbers or words an id


@frozen
class Twins:
    """Pairs of rows or files of one kind of likeness."""

    what: str  # that test rows have or do: "share most of their phrases with a training row"
    pairs: Mapping[str, str]  # test key -> training key
    example: tuple[str, str]  # names of a test and of a training item
    looked: str  # what was compared, if not all


def twins_in_tables(subject: Subject) -> Iterator[Twins]:
    """Twins between each test table and the training table that shares most of its columns."""
    for test in subject.tables("test"):
        head = test.head
        best: tuple[list[str], TableRows] | None = None
        for train in subject.tables("train"):
            if test.key and train.key:
                best = max(best or ([], train), (common_columns(test, train), train), key=lambda pair: len(pair[0]))
        if best is None:
            continue
        texts = [column for column in best[0] if is_text(head[column])]
        features = [column for column in best[0] if column not in texts and not _is_id(head[column])]
        if len(features) >= FEWEST_COLUMNS or any(_is_phrase(head[column]) for column in features):
            yield from _rows(subject, test, best[1], features)
        for column in texts:
            yield from _texts(subject, test, best[1], column)


def common_columns(test: TableRows, train: TableRows) -> list[str]:
    """Columns of both tables but keys and labels."""
    own = {*test.key, *train.key, *test.labels, *train.labels}
    return [column for column in test.head.columns if column in train.head.columns and column not in own]


def is_text(column: Series[str]) -> bool:
    """Does it hold sentences, which mostly differ?"""
    words = column.head(2000).str.count(r"\s+")
    return bool(words.mean() >= FEWEST_WORDS - 1 and column.head(2000).nunique() > 0.5 * min(len(column), 2000))


def _is_phrase(column: Series[str]) -> bool:
    """Does it hold several words, which mostly differ? Too few for ``is_text``, enough to be equal by copying alone."""
    words = column.head(2000).str.count(r"\s+")
    return bool(words.mean() >= 2 and column.head(2000).nunique() > 0.5 * min(len(column), 2000))


def _is_id(column: Series[str]) -> bool:
    fraction = column.str.contains(r"^-?\d+\.\d*[1-9]", regex=True).mean() > 0.5
    return not fraction and not _is_phrase(column) and column.nunique() >= _UNIQUE * len(column)


def _rows(subject: Subject, test: TableRows, train: TableRows, features: list[str]) -> Iterator[Twins]:
    keys, frame = _first_rows(test, features)
    frame = typed(frame)
    numeric = [column for column in features if frame[column].dtype.kind == "f"]

    def pieces() -> Iterator[tuple[Series[str], DataFrame]]:
        done = 0
        for batch in train.batches(dict.fromkeys((*train.key, *features))):
            yield joined(batch, train.key), _as_in(batch[features], numeric)
            done += len(batch)
            subject.progress(0, 0, f"comparing rows: {done:,}")

    pairs = {str(keys.iloc[row]): key for row, key in equal_rows(frame, pieces(), features).items()}
    if pairs:
        looked = f" (the first {MOST_ROWS:,} test rows)" if len(frame) == MOST_ROWS else ""
        example = next(iter(pairs.items()))
        what = f"have the same values, rounded, in all {len(features)} columns as a training row"
        yield Twins(what, pairs, _named(test, train, example), looked)


def _as_in(frame: DataFrame, numeric: list[str]) -> DataFrame:
    """Numbers where the test table has numbers; words there become missing values."""
    from mlecore_audit.tables import numbers_of

    return frame.assign(**{column: numbers_of(frame[column]) for column in numeric})


def _first_rows(table: TableRows, columns: list[str]) -> tuple[Series[str], DataFrame]:
    import pandas as pd

    keys: list[Any] = []
    frames: list[Any] = []
    for batch in table.batches(dict.fromkeys((*table.key, *columns))):
        left = MOST_ROWS - sum(map(len, frames))
        keys.append(joined(batch, table.key).head(left))
        frames.append(batch[columns].head(left))
        if left <= len(batch):
            break
    return pd.concat(keys, ignore_index=True), pd.concat(frames, ignore_index=True)


def _texts(subject: Subject, test: TableRows, train: TableRows, column: str) -> Iterator[Twins]:
    rows = 0 if subject.train is None else len(subject.train)
    share = min(1.0, MOST_TEXTS / max(rows, 1)), min(1.0, MOST_TEXTS / max(len(subject.answers), 1))

    def texts(table: TableRows, share: float) -> Iterator[tuple[str, str]]:
        done = 0
        for batch in table.batches(dict.fromkeys((*table.key, column))):
            for key, text in zip(joined(batch, table.key), batch[column], strict=True):
                if zlib.crc32(key.encode("utf-8", "replace")) < share * 2**32:
                    yield key, text
            done += len(batch)
            subject.progress(0, 0, f"comparing texts of {column}: {done:,} rows")

    pairs = dict(near_texts(texts(test, share[1]), texts(train, share[0])))
    if pairs:
        looked = f" (among some {MOST_TEXTS:,} texts of a part, chosen at random)" if min(share) < 1 else ""
        example = next(iter(pairs.items()))
        what = f"share most of the phrases in {column!r} with a training row"
        yield Twins(what, pairs, _named(test, train, example), looked)


def _named(test: TableRows, train: TableRows, keys: tuple[str, str]) -> tuple[str, str]:
    return f"{test.where}:{keys[0]}", f"{train.where}:{keys[1]}"
