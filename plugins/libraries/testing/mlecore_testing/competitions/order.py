"""Rule: test files come in an order that does not tell their labels: by name, number, time, or position in an archive.

A model that sees only the position of a file must not do better than chance. Files that are linked from raw data count
as ``mlecore prepare`` leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore.prepare import members
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.leaks import is_known, truth
from mlecore_testing.competitions.tables import numbers_of
from mlecore_testing.rules import Broken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

_FEWEST = 20  # test files needed to tell an order from chance
_DEVIATIONS = 7.0  # standard deviations from the mean of random orders: no chance
_DRAWS = 200  # random orders
_ARCHIVES = (".zip", ".7z", ".tar", ".gz", ".tgz")


def order(harness: Harness) -> Iterator[Broken]:
    answers = truth(harness)
    for where, by, ids in _orders(harness, answers):
        for target in answers.columns:
            if not is_known(harness, where) and _tells(answers.loc[ids, target].to_numpy()):
                yield Broken(f"the order of its test files by {by} tells {target!r} of the answers", where)


def _orders(harness: Harness, answers: DataFrame) -> Iterator[tuple[str, str, list[str]]]:
    """Where test files are, what orders them, and the rows that they belong to, in that order.

    A folder's own folders may tell labels, so that its files are taken together, however deep they are.
    """
    folders: dict[str, list[tuple[str, int, int, str]]] = {}
    for path in sorted(path for path in harness.public.rglob("*") if path.is_file()):
        name = path.relative_to(harness.prepared).as_posix()
        row = _row(name, answers)
        if row is not None:
            status = path.stat()
            where = "/".join(PurePosixPath(name).parent.parts[:2])
            folders.setdefault(where, []).append((name, status.st_ino, status.st_mtime_ns, row))
        if path.suffix.lower() in _ARCHIVES:
            found = ((member, _row(member, answers)) for member in _members(path))
            rows = {member: row for member, row in found if row is not None}
            yield name, "position", list(rows.values())
            yield name, "name", [rows[member] for member in sorted(rows)]
    for where, files in folders.items():
        for column, by in enumerate(("name", "inode", "time")):
            if by != "time" or len({file[column] for file in files}) == len(files):
                yield where, by, [file[-1] for file in sorted(files, key=itemgetter(column))]


def _members(path: Path) -> list[str]:
    try:
        return members(path)
    except DataError:  # a single compressed file, such as x.csv.gz
        return []


def _row(name: str, answers: DataFrame) -> str | None:
    """The id of the row that a file belongs to, if any."""
    path = PurePosixPath(name)
    return next((id for id in (path.name, path.stem) if id in answers.index), None)


def _tells(labels: NDArray[np.object_]) -> bool:
    """Are files of one label, or of near numbers, closer together than in random orders?"""
    import numpy as np
    import pandas as pd

    if len(labels) < _FEWEST:
        return False
    kinds = pd.factorize(labels)[0]
    numbers = pd.Series(numbers_of(labels)).rank().to_numpy()
    return (kinds.max() < len(kinds) / 2 and _near(kinds, np.not_equal)) or (
        not np.isnan(numbers).any() and _near(numbers, lambda this, that: np.abs(this - that))
    )


def _near(values: NDArray[Any], distance: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]) -> bool:
    """Is the way from value to value much shorter than in random orders?"""
    import numpy as np

    def way(rows: NDArray[Any]) -> NDArray[Any]:
        between = distance(rows[..., 1:], rows[..., :-1])
        return np.asarray(between.sum(axis=-1, dtype=float))

    rng = np.random.default_rng(0)
    chance = way(np.stack([rng.permutation(values) for _ in range(_DRAWS)]))
    return bool(way(values) < chance.mean() - _DEVIATIONS * chance.std())
