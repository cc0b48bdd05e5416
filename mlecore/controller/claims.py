"""Which groups use obfuscated data: noted with the data, so that what no group needs can be removed."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from attrs import evolve, frozen

from mlecore import files
from mlecore.data.cleanup import Leftover, leftover
from mlecore.data.layout import OBFUSCATED
from mlecore.errors import MlecoreError
from mlecore.regular import read_regular

_GROUPS = "groups"
_FRESH = 3600.0  # seconds in which data without a group may be those of one that is about to start
_LIMIT = 1 << 16


@frozen(kw_only=True)
class Obfuscated:
    """A folder of obfuscated data."""

    path: Path
    competition: str  # empty: unknown, since no group used it
    groups: tuple[Path, ...]  # that used it and still exist
    needed: bool  # by a group with runs that are not settled

    def __str__(self) -> str:
        used = ", ".join(map(str, self.groups)) or "no group that exists"
        return f"{self.path} ({self.competition or 'unknown competition'}; used by {used})"


def claim(root: Path, competition: str, group: Path) -> None:
    """Note that a group uses the data in ``root``. Repeatable."""
    folder = root / _GROUPS
    folder.mkdir(exist_ok=True)
    value = {"competition": competition, "group": str(group.absolute())}
    name = hashlib.sha256(value["group"].encode()).hexdigest()[:16]
    files.replace(folder / f"{name}.json", json.dumps(value).encode())


def obfuscated(data: Path) -> list[Obfuscated]:
    """All in a data directory, and what was half made by a process that was killed."""
    folder = data / OBFUSCATED
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [_read(path) for path in paths if path.is_dir()]


def unneeded(data: Path) -> list[Leftover]:
    """What no group needs."""
    return [
        evolve(leftover(each.path), why=f"is needed by no group: {_about(each)}")
        for each in obfuscated(data)
        if not each.needed
    ]


def _about(data: Obfuscated) -> str:
    groups = ", ".join(map(str, data.groups))
    about = f"data of {data.competition}, obfuscated" if data.competition else "obfuscated data"
    return f"{about}, of {groups}, which is complete" if groups else about


def _read(path: Path) -> Obfuscated:
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
    return Obfuscated(path=path, competition=competition, groups=tuple(groups), needed=needed)


def unsettled(group: Path) -> bool:
    """Has a group runs that still need their data? Yes where that cannot be told."""
    from mlecore.runs.record import SETTLED
    from mlecore.runs.store import load_group

    try:
        return any(run.state not in SETTLED for run in load_group(group))
    except (MlecoreError, OSError):
        return True
