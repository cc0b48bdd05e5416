"""Logs of inspect on disk. Imports nothing of inspect: it is asked whenever somebody imports runs."""

from __future__ import annotations

import zipfile
from pathlib import Path


def find_logs(source: Path) -> list[Path]:
    """The log itself, or those below a folder; empty if there are none. A log is a zip file with a journal of start."""
    paths = [source] if source.is_file() else sorted(source.rglob("*.eval"))
    return [path for path in paths if path.is_file() and not path.is_symlink() and _is_log(path)]


def _is_log(path: Path) -> bool:
    if path.suffix != ".eval":
        return False
    try:
        with zipfile.ZipFile(path) as packed:
            return "_journal/start.json" in packed.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
