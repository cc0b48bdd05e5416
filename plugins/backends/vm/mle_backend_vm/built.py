"""Environments that were built for agents: what there is, and removing it."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_backend_vm import folders
from mle_backend_vm.environments import locked, manifest
from mle_backend_vm.supervise.files import SPEC, read_json
from mlecore.backends import CachedImage


def built(root: Path) -> list[CachedImage]:
    """All environments below ``root``, newest first. Files that are links into uv's cache are not in their size."""
    used = _used(root)
    found = [
        CachedImage(
            ref=str(folder),
            name=folder.name[:12],
            size=_size(folder),
            created=manifest(folder).stat().st_mtime,
            about=_about(folder),
            used=str(folder) in used,
        )
        for folder in _folders(root)
        if manifest(folder).is_file()
    ]
    return sorted(found, key=lambda each: -each.created)


def prune(root: Path, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
    """See ``Backend.prune``."""
    wanted = {each.ref: each for each in chosen}
    removed, freed = [], 0
    for folder in _folders(root):
        if str(folder) in wanted or not manifest(folder).is_file():  # or its build was interrupted
            size = _discard(folder, root)
            if size is not None:
                removed += [wanted[str(folder)]] if str(folder) in wanted else []
                freed += size
    return removed, freed


def _discard(folder: Path, root: Path) -> int | None:
    """The bytes freed; None if somebody builds or uses it."""
    try:
        with locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if str(folder) in _used(root):
                return None
            size = _size(folder)
            manifest(folder).unlink(missing_ok=True)  # first: half an environment is none
            folders.erase(folder)
            return size
    except BlockingIOError:
        return None


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in sorted((root / "envs").glob("*")) if path.is_dir() and not path.is_symlink())


def _used(root: Path) -> set[str]:
    """Environments of jobs that are still there."""
    specs = (read_json(str(path)) for path in folders.jobs(root).glob(f"*/{SPEC}"))
    return {str(spec.get("image")) for spec in specs if spec}


def _size(folder: Path) -> int:
    """Bytes on disk that only this folder takes."""
    found = (Path(path, name).lstat() for path, _, names in os.walk(folder) for name in ("", *names))
    return sum(status.st_blocks * 512 for status in found if status.st_nlink == 1 or stat.S_ISDIR(status.st_mode))


def _about(folder: Path) -> str:
    """Its interpreter and what was asked for; an older version of mlecore noted less."""
    made = read_json(str(manifest(folder))) or {}
    return ", ".join([*made.get("installed", ())[:1], *made.get("asked", ()), *made.get("files", ())])
