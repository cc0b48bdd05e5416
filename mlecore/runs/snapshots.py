"""The snapshots that init took of a submission and of the code while the agent worked."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.model.record import RunRecord

if TYPE_CHECKING:
    pass


HISTORY = "snapshots.json"
MOST = 500  # snapshots of a run that are graded: one per three minutes of a day
_MOST_NAMES = 50_000  # names in a folder of snapshots; the collector accepts no more
_SECONDS = re.compile(r"[0-9]{1,9}")
_NAME = re.compile(rf"({_SECONDS.pattern})\.csv")


def snapshots(record: RunRecord) -> list[tuple[int, Path]]:
    """(seconds since the start, file) of each snapshot of a collected run, in order.

    At most ``MOST``, evenly chosen, always with the first and the last.
    """
    folder = record.folder / "snapshots"
    if not folder.is_dir() or folder.is_symlink():
        return []
    named = (
        (_NAME.fullmatch(path.name), path)
        for path in islice(folder.iterdir(), _MOST_NAMES)
        if path.is_file() and not path.is_symlink()
    )
    found = sorted((int(match[1]), path) for match, path in named if match)
    if len(found) <= MOST:
        return found
    return [found[at * (len(found) - 1) // (MOST - 1)] for at in range(MOST)]


def code_snapshots(record: RunRecord) -> list[tuple[int, Path]]:
    """(seconds since the start, folder) of each code snapshot of a collected run, in order."""
    folder = record.folder / "code_snapshots"
    if not folder.is_dir() or folder.is_symlink():
        return []
    named = (path for path in islice(folder.iterdir(), MOST) if path.is_dir() and not path.is_symlink())
    return sorted((int(path.name), path) for path in named if _SECONDS.fullmatch(path.name))
