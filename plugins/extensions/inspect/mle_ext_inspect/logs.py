"""Logs of inspect on disk. Imports nothing of inspect: it is asked whenever somebody imports runs."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

_JOURNAL = b"_journal/start.json"


def find_logs(source: Path) -> list[Path]:
    """The log itself, or those below a folder; empty if there are none. Logs that were cut off are among them."""
    paths = [source] if source.is_file() else sorted((*source.rglob("*.eval"), *source.rglob("*.json")))
    return [path for path in paths if path.is_file() and not path.is_symlink() and _is_log(path)]


def _is_log(path: Path) -> bool:
    """A zip file with a journal, which comes first in it, or JSON that begins with the facts of an evaluation."""
    try:
        if path.suffix == ".json":
            with path.open("rb") as log:
                return bool(re.match(rb'\s*{\s*"version":[^{]*"eval":', log.read(500)))
        if path.suffix != ".eval":
            return False
        with path.open("rb") as log:
            if re.match(rb"PK\x03\x04.{26}" + re.escape(_JOURNAL), log.read(100), re.DOTALL):
                return True
        with zipfile.ZipFile(path) as packed:
            return _JOURNAL.decode() in packed.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
