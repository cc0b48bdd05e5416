"""Names in addresses become folders and files below the runs folder, and nothing outside of it.

Agents name the files, and may have planted links: no link is followed from the runs folder on.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

from mlecore.errors import DataError
from mlecore.util.regular import open_regular

OUTPUT = ("code", "logs", "submission", "snapshots", "code_snapshots", "attempts", "findings")
"""Folders of a run whose files are shown. Others, such as .secrets.json beside them, are not."""

_NAME = re.compile(r"[^./\x00][^/\x00]*")
_LONGEST = 4096  # characters of a path


class Missing(Exception):
    """Nothing that can be shown has this name; the message says why."""


def child(folder: Path, name: str) -> Path:
    """A folder in ``folder``, which is no link. Raises Missing."""
    path = folder / name
    try:
        if _NAME.fullmatch(name) and path.is_dir() and not path.is_symlink():
            return path
    except (OSError, ValueError):
        pass
    raise Missing(f"there is no {name[:200]!r} in {folder.name}")


def output_file(run: Path, name: str) -> Path:
    """A file that a run left, by its path below the run's folder. Raises Missing for a path that leads elsewhere."""
    parts = name.split("/")
    if (
        len(name) > _LONGEST
        or "\x00" in name
        or parts[0] not in OUTPUT
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise Missing(f"no file of a run is named {name[:200]!r}")
    return run.joinpath(*parts)


def open_file(path: Path, runs: Path) -> BinaryIO:
    """A regular file below the runs folder. Raises Missing."""
    try:
        return os.fdopen(open_regular(path, below=runs), "rb")
    except FileNotFoundError:
        raise Missing(f"{path.relative_to(runs)} does not exist") from None
    except (DataError, OSError, ValueError) as error:
        raise Missing(f"{path.relative_to(runs)} cannot be shown: {_reason(error)}") from None


def read_start(path: Path, runs: Path, most: int) -> tuple[bytes, int]:
    """The first bytes of a file, and its size. Raises Missing."""
    with open_file(path, runs) as file:
        return file.read(most), os.fstat(file.fileno()).st_size


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
