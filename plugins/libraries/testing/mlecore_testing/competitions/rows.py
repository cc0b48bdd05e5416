"""Which test rows public tables list, in which order, and which public files belong to which test row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from attrs import frozen

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.leaks import keys
from mlecore_testing.competitions.tables import tables

if TYPE_CHECKING:
    from pandas import DataFrame, Index

_LOOKED_AT = 50  # names that show whether a column has numbers
_SHARE = 0.5  # of the test rows, at least, that are in a table of test rows


@frozen
class Listing:
    """A public table with a column of test ids."""

    where: str
    rows: list[str]  # the test rows that it lists, in its order
    files: dict[str, str]  # names in its other columns that no two test rows share -> test row


def listings(harness: Harness) -> Iterator[Listing]:
    """The public tables that list many of the test rows."""
    ids = harness.truth.index
    fewest = max(1, int(_SHARE * len(ids)))
    for where, frame in tables(harness.prepared, harness.public, rows=fewest):
        for key in keys(frame, ids):
            rows = frame[frame[key].isin(ids)].drop_duplicates(key)
            if len(rows) >= fewest:
                yield Listing(where, rows[key].tolist(), _unique(rows, key))


def _unique(rows: DataFrame, key: str) -> dict[str, str]:
    files: dict[str, str] = {}
    for column in rows.columns.drop(key):
        values = rows[column]
        if values.is_unique and not values.head(_LOOKED_AT).str.fullmatch(r"[-+.\de]*").any():  # numbers name no files
            files |= dict(zip(values, rows[key], strict=True))
    return files


def test_files(harness: Harness, ids: Index[Any]) -> dict[str, dict[str, str]]:
    """Folder or archive -> name of each file in it that belongs to a test row -> the row, in an archive's order.

    A file's name or the end of its path is the row's id, or stands in its line of a public table. A folder's own
    folders may tell labels, so that its files are taken together, however deep they are.
    """
    known = dict(zip(ids, ids, strict=True))
    for listing in harness.listings:
        known = {**listing.files, **known}
    found: dict[str, dict[str, str]] = {}
    for name in harness.names:
        outer, _, member = name.partition("!")
        path = PurePosixPath(member or name)
        ends = [path.stem, *("/".join(path.parts[-depth:]) for depth in range(1, len(path.parts) + 1))]
        row = next((known[end] for end in ends if end in known), None)
        if row is not None:
            where = outer if member else "/".join(path.parent.parts[:2])
            found.setdefault(where, {})[name] = row
    return found
