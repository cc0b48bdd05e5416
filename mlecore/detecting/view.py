"""What a detector's process sees of this machine: only the public part of competitions' data, and runs read-only.

bubblewrap hides the rest. Keys, caches and programs stay visible: a detector is trusted code, which only must not see
answers.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from mlecore.data.layout import DataDirs
from mlecore.util.child_environment import child_environment

_DATA = ("prepared*", "synthetic", "raw", "sources", "*.zip")  # one of them is in a competition's folder
_PUBLIC = ("prepared*/public", "synthetic/prepared*/public")
_PRIVATE = ("*", "prepared*/private", "synthetic/*", "synthetic/prepared*/private")  # and may be a link


def through(data: DataDirs, group: Path) -> tuple[str, ...]:
    """The command before a detector's own, for the runs of a group; empty if sandboxes do not work here."""
    return (*_base(), *_mounts(data, group), "--") if unavailable() is None else ()


@cache
def unavailable() -> str | None:
    """Why detectors run without a sandbox, in which they would not see the answers; None if they run in one."""
    if shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not installed"
    for _ in range(2):  # the first fails if a mount goes away meanwhile, such as that of a container
        done = subprocess.run(
            [*_base(), "--", "true"], env=child_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return None
    return f"bubblewrap does not work here: {done.stderr.strip()[-200:]}"


def _base() -> Sequence[str]:
    """Hides other processes, too: their view of the files could be read through /proc."""
    capabilities = [part for name in ("SYS_ADMIN", "SYS_PTRACE") for part in ("--cap-drop", f"CAP_{name}")]
    return ("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", *capabilities)


def _mounts(data: DataDirs, group: Path) -> list[str]:
    """Mount empty folders over those of competitions and over the targets of their links, and public data into them."""
    mounts: dict[Path, tuple[str, ...]] = {group.resolve(): ("--ro-bind", str(group.resolve()))}
    for folder in _competitions(data):
        links = (path.resolve() for path in _found(folder, _PRIVATE) if path.is_symlink())
        for hidden in (folder, *(path for path in links if path.exists())):
            mounts[hidden] = ("--tmpfs",) if hidden.is_dir() else ("--ro-bind", "/dev/null")
        for public in _found(folder, _PUBLIC):
            mounts[public] = ("--ro-bind", str(public.resolve()))
    outermost_first = sorted(mounts, key=lambda path: len(path.parts))
    return [word for path in outermost_first for word in (*mounts[path], str(path))]


def _competitions(data: DataDirs) -> Iterator[Path]:
    """The folders of all competitions with data, in any directory; links are resolved."""
    for directory in data.dirs:
        if directory.is_dir():
            yield from (path.resolve() for path in sorted(directory.iterdir()) if any(_found(path, _DATA)))


def _found(folder: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from folder.glob(pattern)
