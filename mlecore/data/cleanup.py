"""Files that killed commands left behind. The next command of its kind removes them; `doctor --clean` removes all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from mlecore.data.layout import OBFUSCATED
from mlecore.data.lock import lock
from mlecore.model.leftover import Leftover
from mlecore.util import files
from mlecore.util.locks import LockHeld
from mlecore.util.scratch import abandoned_scratch


def leftovers(data: Path) -> list[Leftover]:
    """Leftovers in the temporary folder and in a data directory, without those that a running command uses."""
    found = [leftover(path) for path in abandoned_scratch()]
    if data.is_dir():
        folders = [folder for folder in sorted(data.iterdir()) if folder.is_dir() and folder.name != OBFUSCATED]
        found += [left for folder in folders for left in _of_competition(folder)]
    return found


def leftover(path: Path, competition: Path | None = None) -> Leftover:
    """A leftover; if it belongs to a competition, it is removed under that competition's lock."""

    def remove() -> None:
        with lock(competition, "removing leftovers") if competition else nullcontext():
            files.remove(path)

    size = sum(found.lstat().st_size for found in [path, *path.rglob("*")])
    return Leftover(path=path, bytes=size, remove=remove)


def _of_competition(folder: Path) -> Iterator[Leftover]:
    """Folders that are unfinished, replaced or discarded. A partial download stays, because it is resumed."""
    paths = [path for below in (folder, folder / "synthetic") if below.is_dir() for path in sorted(below.iterdir())]
    paths = [path for path in paths if _is_left(path)]
    if not paths:
        return
    try:
        with lock(folder, "looking for leftovers"):
            pass
    except LockHeld:
        return

    for path in paths:
        yield leftover(path, folder)


def _is_left(path: Path) -> bool:
    if path.is_dir():
        replaced = path.suffix == ".old" and path.with_suffix("").exists()
        return replaced or path.suffix in (".partial", ".trash")
    return path.name.startswith(".") and path.suffix == ".tmp"
