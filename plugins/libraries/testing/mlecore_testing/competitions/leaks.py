"""Rule: public files do not give the answers away, as far as a scan of tables and names can tell.

Known leaks of the published data are in [[leaks]] of competition.toml, and are not reported.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.tables import numbers_of, tables
from mlecore_testing.rules import Broken, Undecided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame, Index, Series

_SHARE = 0.99  # of the test rows, above which equal values are not a coincidence
_BEGINNING = 1000  # rows whose numbers are compared before those of all
_FEWEST = 10  # test rows needed to tell a coincidence from a leak


def leaks(harness: Harness) -> Iterator[Broken]:
    answers = harness.truth
    for where, what in (*_copies(harness), *_columns(harness, answers), *_names(harness, answers)):
        if not is_known(harness, where):
            yield Broken(what, where)


def is_known(harness: Harness, where: str) -> bool:
    """Do the facts name a leak of this public file, or of the folder or archive that it is in?"""
    files = {leak.file for leak in harness.facts.leaks}
    return any(where == file or where.startswith((f"{file}/", f"{file}!")) for file in files)


def _copies(harness: Harness) -> Iterator[tuple[str, str]]:
    """The file of the answers itself, under any name."""
    answers = harness.prepared / harness.facts.answers
    size, digest = answers.stat().st_size, _sha256(answers)
    for path in sorted(harness.public.rglob("*")):
        if path.is_file() and path.stat().st_size == size and _sha256(path) == digest:
            yield path.relative_to(harness.prepared).as_posix(), f"it is {harness.facts.answers}, byte for byte"


def _columns(harness: Harness, truth: DataFrame) -> Iterator[tuple[str, str]]:
    """A column of a public table that holds the answers of the test rows, whatever it and its key are called."""
    orders = _orders(harness, truth)
    for where, frame in tables(harness.prepared, harness.public, rows=int(_SHARE * len(truth))):
        found: set[tuple[str, str]] = set()
        for key in keys(frame, truth.index):
            rows = frame.drop_duplicates(key).set_index(key)
            shared = truth.index.intersection(rows.index)
            if len(shared) >= max(_FEWEST, _SHARE * len(truth)):
                found |= equal(truth.loc[shared], rows.loc[shared])
        if len(truth) >= _FEWEST:
            found |= _nameless(orders, frame)
        for column, target in sorted(found):
            yield where, f"its column {column!r} is {target!r} of the answers"


def keys(frame: DataFrame, ids: Index[Any]) -> Iterator[str]:
    """Columns that may name the test rows: of the same name, or with nearly all ids and no repetition."""
    for column in frame.columns:
        values = frame[column]
        if column == ids.name or (
            values.isin(ids[:50]).any() and values.is_unique and ids.isin(values).mean() > _SHARE
        ):
            yield column


def _orders(harness: Harness, truth: DataFrame) -> list[DataFrame]:
    """The answers in orders that an agent could guess: theirs, the sample's, those of the ids; each backwards too."""
    import pandas as pd

    orders = [truth, truth.sort_index(), truth.iloc[numbers_of(truth.index).argsort()]]
    sample = pd.read_csv(io.BytesIO(harness.sample), dtype=str, keep_default_na=False)
    listed = [column for column in sample.columns if truth.index.isin(sample[column]).all()]
    orders += [truth.loc[sample[column][sample[column].isin(truth.index)].unique()] for column in listed[:1]]
    distinct = {tuple(order.index): order for order in orders}
    return [each.reset_index(drop=True) for order in distinct.values() for each in (order, order[::-1])]


def _nameless(orders: list[DataFrame], frame: DataFrame) -> set[tuple[str, str]]:
    """Pairs (column, answer) of a table without names of rows; its first row may have been taken for its header."""
    import pandas as pd

    rows = len(orders[0])
    if len(frame) == rows - 1:
        frame = pd.concat([pd.DataFrame([list(frame.columns)], columns=frame.columns), frame], ignore_index=True)
    if len(frame) != rows:
        return set()
    found = equal(orders[0], frame)
    contents = {target: _sorted(orders[0][target]) for target in orders[0].columns}
    for column in frame.columns:
        content = _sorted(frame[column])
        same = [target for target, wanted in contents.items() if content == wanted]
        for order in orders[1:] if same else ():
            found |= equal(order[same], frame[[column]])
    return found


def _sorted(column: Series[str]) -> list[object]:
    """What a column holds, in whatever order: its numbers, or its texts."""
    numbers = numbers_of(column)
    return sorted(column if (numbers != numbers).any() else numbers.tolist())


def equal(truth: DataFrame, frame: DataFrame) -> set[tuple[str, str]]:
    """Pairs (column, answer) that agree row by row, also in rows without the most frequent answer."""
    out = set()
    beginnings = {column: numbers_of(frame[column][:_BEGINNING]) for column in frame.columns}
    for target in truth.columns:
        answers = truth[target]
        rare = (answers != answers.mode().iloc[0]).to_numpy()
        if not rare.any():
            continue
        beginning = numbers_of(answers[:_BEGINNING])
        for column in frame.columns:
            same: NDArray[np.bool_] = answers.to_numpy() == frame[column].to_numpy()
            if (same[:_BEGINNING] | (beginning == beginnings[column])).mean() >= _SHARE:
                same |= numbers_of(answers) == numbers_of(frame[column])  # 1 and 1.0
            if same.mean() >= _SHARE and same[rare].mean() >= _SHARE:
                out.add((column, target))
    return out


def _names(harness: Harness, truth: DataFrame) -> Iterator[tuple[str, str]]:
    """Test files whose name or folder is their label."""
    paths: dict[str, list[str]] = {}
    for name in harness.names:
        path = PurePosixPath(name.replace("!", "/"))
        for key in {path.name, path.stem}:
            paths.setdefault(key, []).append(name)
    for target in truth.columns:
        labelled = [(label, name) for id, label in truth[target].items() for name in paths.get(id, ())]
        if len(labelled) < _FEWEST or len({label for label, _ in labelled}) < 2:
            continue
        if sum(_tells(name, label) for label, name in labelled) >= _SHARE * len(labelled):
            yield labelled[0][1], f"names of test files reveal {target!r} of the answers, here {labelled[0][0]!r}"


def _tells(path: str, label: str) -> bool:
    if len(label) >= 3 and not label.replace(".", "").isdigit():
        return label.lower() in path.lower()
    return label in PurePosixPath(path.replace("!", "/")).parts


def truth(harness: Harness) -> DataFrame:
    """The answers as text, by id; only rows whose id occurs once.

    If none of its columns has the name of a submission's column, all of them may be answers, except texts that differ
    from row to row, which are in the test set too.
    """
    import pandas as pd

    try:
        frame = pd.read_csv(harness.prepared / harness.facts.answers, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise Undecided(f"{harness.facts.answers} cannot be read as a table: {error}") from None
    key = _key_of(harness, frame)
    targets = [column for column in harness.targets if column in frame.columns and column != key]
    if not targets:
        targets = [column for column in frame.columns if column != key and not _is_prose(frame[column])]
    unique: Series[bool] = ~frame[key].duplicated(keep=False)
    return frame.loc[unique, [key, *targets]].set_index(key)


def _is_prose(column: Series[str]) -> bool:
    numbers = numbers_of(column)
    return column.nunique() > len(column) / 2 and bool((numbers != numbers).mean() > 0.1)


def _key_of(harness: Harness, answers: DataFrame) -> str:
    """The column of the answers that names their rows: of the submission's name, or with the same contents."""
    import pandas as pd

    key = harness.format.id
    if key is not None and key in answers.columns:
        return key
    if key is not None:
        sample = pd.read_csv(io.BytesIO(harness.sample), dtype=str, keep_default_na=False)
        for column in answers.columns:
            if sample[key].isin(answers[column]).mean() > _SHARE:
                return str(column)
    raise Undecided(f"{harness.facts.answers} has no column that names its rows")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
