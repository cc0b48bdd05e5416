"""Rule: test rows and test files come in an order that does not tell their labels.

The order of rows in a table; of files by name, number, time, in their folder, or in an archive. A model that sees only
the position must not do better than chance. Files that are linked from raw data count as ``mlecore prepare`` leaves
them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore_testing.competitions.chance import is_clustered, is_sorted
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.leaks import is_known
from mlecore_testing.competitions.rows import test_files
from mlecore_testing.rules import Broken

if TYPE_CHECKING:
    from pandas import DataFrame


def order(harness: Harness) -> Iterator[Broken]:
    answers = harness.truth
    of_rows = [(table.where, "rows", table.rows, is_sorted) for table in harness.listings]
    of_files = [(*found, is_clustered) for found in _of_files(harness, answers)]
    for where, what, rows, tells in (*of_rows, *of_files):
        for target in answers.columns:
            if not is_known(harness, where) and tells(answers.loc[rows, target].to_numpy()):
                yield Broken(f"the order of its test {what} tells {target!r} of the answers", where)


def _of_files(harness: Harness, answers: DataFrame) -> Iterator[tuple[str, str, list[str]]]:
    """Where test files are, what orders them, and the rows that they belong to, in that order."""
    for where, rows in test_files(harness, answers.index).items():
        yield where, "files by name", [rows[name] for name in sorted(rows)]
        if any("!" in name for name in rows):
            yield where, "files by position", list(rows.values())
            continue
        paths = {name: harness.prepared / name for name in rows}
        status = {name: path.stat() for name, path in paths.items()}
        yield where, "files by inode", _by({name: status[name].st_ino for name in rows}, rows)
        yield where, "files by time", _by({name: status[name].st_mtime_ns for name in rows}, rows)
        yield where, "files as listed", [rows[name] for name in _listed(paths)]


def _by(values: dict[str, int], rows: dict[str, str]) -> list[str]:
    """The rows by the value of their file; those of equal files in an order that tells nothing."""
    import random

    names = list(rows)
    random.Random(0).shuffle(names)
    return [rows[name] for name in sorted(names, key=values.__getitem__)]


def _listed(paths: dict[str, Path]) -> list[str]:
    """Names by the place that the file system lists them at, folder by folder."""
    names = {path: name for name, path in paths.items()}
    folders = dict.fromkeys(path.parent for path in names)
    entries = (Path(entry) for folder in folders for entry in os.scandir(folder))
    return [names[entry] for entry in entries if entry in names]
