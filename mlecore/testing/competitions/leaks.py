"""Rule: public files do not give the answers away, as far as a scan of tables and names can tell.

Known leaks of the published data stand in [[leaks]] of competition.toml, and count as said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mlecore.testing.competitions.harness import Harness
from mlecore.testing.competitions.tables import names, tables
from mlecore.testing.rules import Broken, Undecided

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_SHARE = 0.99  # of the test rows, above which values that agree are no accident
_FEWEST = 10  # test rows with which a coincidence can be told from a leak


def leaks(harness: Harness) -> Iterator[Broken]:
    known = {leak.file for leak in harness.facts.leaks}
    truth = _truth(harness)
    for where, what in (*_copies(harness), *_columns(harness, truth), *_names(harness, truth)):
        if not any(where == file or where.startswith((f"{file}/", f"{file}!")) for file in known):
            yield Broken(what, where)


def _copies(harness: Harness) -> Iterator[tuple[str, str]]:
    """The file of the answers itself, under any name."""
    answers = harness.prepared / harness.facts.answers
    size, digest = answers.stat().st_size, _sha256(answers)
    for path in sorted(harness.public.rglob("*")):
        if path.is_file() and path.stat().st_size == size and _sha256(path) == digest:
            yield path.relative_to(harness.prepared).as_posix(), f"it is {harness.facts.answers}, byte for byte"


def _columns(harness: Harness, truth: DataFrame) -> Iterator[tuple[str, str]]:
    """A column of a public table that holds the answers of the test rows."""
    for where, frame in tables(harness.prepared, harness.public):
        for key in (column for column in frame.columns if column == truth.index.name):
            rows = frame.drop_duplicates(key).set_index(key)
            shared = truth.index.intersection(rows.index)
            if len(shared) < max(_FEWEST, _SHARE * len(truth)):
                continue
            for target in truth.columns:
                answers = truth.loc[shared, target]
                if answers.nunique() < 2:
                    continue
                for column in rows.columns:
                    if (rows.loc[shared, column] == answers).mean() >= _SHARE:
                        yield where, f"its column {column!r} is {target!r} of the answers"


def _names(harness: Harness, truth: DataFrame) -> Iterator[tuple[str, str]]:
    """Test files whose name or folder is their label."""
    paths: dict[str, list[str]] = {}
    for name in names(harness.prepared, harness.public):
        path = PurePosixPath(name.replace("!", "/"))
        for key in {path.name, path.stem}:
            paths.setdefault(key, []).append(name)
    for target in truth.columns:
        labelled = [(label, name) for id, label in truth[target].items() for name in paths.get(id, ())]
        if len(labelled) < _FEWEST or len({label for label, _ in labelled}) < 2:
            continue
        if sum(_tells(name, label) for label, name in labelled) >= _SHARE * len(labelled):
            yield labelled[0][1], f"names of test files tell {target!r} of the answers, here {labelled[0][0]!r}"


def _tells(path: str, label: str) -> bool:
    if len(label) >= 3 and not label.replace(".", "").isdigit():
        return label.lower() in path.lower()
    return label in PurePosixPath(path.replace("!", "/")).parts


def _truth(harness: Harness) -> DataFrame:
    """The answers as text, by id; only rows whose id occurs once."""
    import pandas as pd

    key = harness.format.id
    wanted = {key, *harness.targets}
    try:
        frame = pd.read_csv(
            harness.prepared / harness.facts.answers, dtype=str, keep_default_na=False, usecols=wanted.__contains__
        )
    except ValueError as error:
        raise Undecided(f"{harness.facts.answers} cannot be read as a table: {error}") from None
    if key is None or key not in frame.columns:
        raise Undecided(f"{harness.facts.answers} has no column that names its rows")
    targets = [column for column in harness.targets if column in frame.columns and column != key]
    unique: Series[bool] = ~frame[key].duplicated(keep=False)
    return frame.loc[unique, [key, *targets]].set_index(key)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
