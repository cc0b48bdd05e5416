"""What a folder holds, as values that can be compared: paths and hashes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mlecore_testing.rules import Broken

Tree = dict[str, str]  # path relative to the folder, "/" behind folders -> SHA-256, or what it is if not a file


def tree(folder: Path) -> Tree:
    """Everything below ``folder``, sorted; links are not followed."""
    found: Tree = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            relative = path.relative_to(folder).as_posix()
            if stat.S_ISDIR(mode):
                found[relative + "/"] = "folder"
            elif stat.S_ISREG(mode):
                with path.open("rb") as file:
                    found[relative] = hashlib.file_digest(file, "sha256").hexdigest()
            else:
                found[relative] = "neither a file nor a folder"
    return dict(sorted(found.items()))


def differences(first: Tree, second: Tree, was: str, then: str) -> Iterator[Broken]:
    """Each path in which two trees differ; ``was`` and ``then`` say where each of them comes from."""
    for path in sorted({*first, *second}):
        if path not in second:
            yield Broken(f"is there {was}, but not {then}", path)
        elif path not in first:
            yield Broken(f"is there {then}, but not {was}", path)
        elif first[path] != second[path]:
            yield Broken(f"other bytes {then} than {was}", path)


def read_only(folder: Path) -> None:
    """Remove write permission, recursively."""
    for place, _, files in os.walk(folder):
        for name in files:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                path.chmod(0o444)
        Path(place).chmod(0o555)


def writable(folder: Path) -> None:
    """Make the folders writable again, so that they can be removed."""
    for place, _, _ in os.walk(folder):
        Path(place).chmod(0o755)
