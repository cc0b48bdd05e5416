"""Entries that show the runs of another one: somebody copied an export, or exported a group twice."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from attrs import frozen

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.entry import Entry
from mle_ext_leaderboard.results import FILE, LIMIT
from mle_ext_leaderboard.rules import Remark
from mlecore.errors import MlecoreError
from mlecore.regular import read_regular
from mlecore.schema import SchemaError


@frozen(kw_only=True)
class _Group:
    """What is read of a results.json here."""

    group_uid: str


def groups(board: Board) -> dict[str, str]:
    """Entry -> random id of its group, of all that can be read."""
    found = {}
    for name in board.names():
        try:
            folder = board.entry_folder(name)
            content = read_regular(folder / FILE, LIMIT, below=folder)
            found[name] = msgspec.json.decode(content, type=_Group).group_uid
        except (MlecoreError, OSError, ValueError, RecursionError):
            continue
    return found


def duplicates(board: Board, name: str, entry: Entry, groups: dict[str, str]) -> Iterator[Remark]:
    """A correction may show the same runs again."""
    for other, uid in groups.items():
        if other == name or uid != groups.get(name):
            continue
        try:
            theirs = board.entry(other)
        except (SchemaError, MlecoreError):
            continue
        if entry.corrects != other and theirs.corrects != name:
            older = (theirs.date, other) < (entry.date, name)
            words = f"its runs are those of the entry {other}"
            yield Remark(level="error" if older else "warning", check="results", words=words)
