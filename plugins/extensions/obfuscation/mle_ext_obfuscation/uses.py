"""Which groups use obfuscated data: noted beside the data, so that what no group needs can be removed."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from attrs import evolve, frozen

from mlecore.data.cleanup import leftover
from mlecore.data.layout import OBFUSCATED
from mlecore.errors import MlecoreError
from mlecore.model.leftover import Leftover
from mlecore.util import files
from mlecore.util.regular import read_regular

_GROUPS = "groups"
_FRESH = 3600.0  # seconds in which data without a group may belong to one that is about to start
_LIMIT = 1 << 16


@frozen(kw_only=True)
class Use:
    """How one folder of obfuscated data is used."""

    path: Path
    competition: str  # empty: unknown, since no group used it
    groups: tuple[Path, ...]  # that used it and still exist
    needed: bool  # by a group with runs that are not settled, or soon by a new one

    def __str__(self) -> str:
        about = f"obfuscated data of {self.competition}" if self.competition else "obfuscated data"
        if not self.groups:
            return about
        groups = ", ".join(map(str, self.groups))
        return f"{about}, used by {groups}" if self.needed else f"{about}, used by {groups}, which is complete"


def note_use(root: Path, competition: str, group: Path) -> None:
    """Note that a group uses the data in ``root``. Repeatable."""
    folder = root / _GROUPS
    folder.mkdir(exist_ok=True)
    value = {"competition": competition, "group": str(group.absolute())}
    name = hashlib.sha256(value["group"].encode()).hexdigest()[:16]
    files.replace(folder / f"{name}.json", json.dumps(value).encode())


def uses(data: Path) -> list[Use]:
    """All in a data directory, and what a process that was killed left incomplete."""
    folder = data / OBFUSCATED
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [_read(path) for path in paths if path.is_dir()]


def leftovers_of(data: Path) -> list[Leftover]:
    """What no group needs, and, marked as needed, what one does."""
    return [
        evolve(leftover(use.path), why=str(use) if use.needed else f"is needed by no group: {use}", needed=use.needed)
        for use in uses(data)
        if use.groups or not use.needed
    ]


def _read(path: Path) -> Use:
    competition, groups = "", []
    for file in sorted((path / _GROUPS).glob("*.json")):
        try:
            value = json.loads(read_regular(file, _LIMIT))
            competition, group = str(value["competition"]), Path(value["group"])
        except (MlecoreError, OSError, ValueError, KeyError, TypeError):
            continue
        if group.is_dir():
            groups.append(group)
    needed = any(map(unsettled, groups)) or (not groups and time.time() - path.stat().st_mtime < _FRESH)
    return Use(path=path, competition=competition, groups=tuple(groups), needed=needed)


def unsettled(group: Path) -> bool:
    """Has a group runs that still need their data? Yes if that cannot be told."""
    from mlecore.model.record import SETTLED
    from mlecore.runs.store import load_group

    try:
        return any(run.state not in SETTLED for run in load_group(group))
    except (MlecoreError, OSError):
        return True
