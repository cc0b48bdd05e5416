"""Checks prepared data against the benchmark's checksums, and against counts that hold for Kaggle's data only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from mlecore.model.facts import Facts


def wrong_checksums(root: Path, facts: Facts) -> list[str]:
    """Files whose MD5 differs from the published one, with both values, without checksums that only inform."""
    from concurrent.futures import ThreadPoolExecutor

    wanted = {path: md5 for path, md5 in facts.md5.items() if path != "zip" and path not in facts.md5_informs}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(wanted, pool.map(lambda path: _md5(root / path), wanted), strict=True))
    return [
        f"{path}: " + (f"MD5 {found[path]}, expected {md5}" if found[path] else "is missing")
        for path, md5 in wanted.items()
        if found[path] != md5
    ]


def wrong_counts(root: Path, facts: Facts) -> list[str]:
    """The counts of ``[expect]`` that do not hold: rows of a table (without header), files below a folder."""
    return [
        f"{path}: {count} {what}, expected {wanted}"
        for path, expected in facts.expect.items()
        for what, wanted in expected.items()
        if (count := _count(root / path, what)) != wanted
    ]


def _md5(path: Path) -> str | None:
    import hashlib

    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _count(path: Path, what: str) -> int | None:
    """Rows or files; None: the file or folder does not exist."""
    if not path.exists():
        return None
    if what == "files":
        return sum(len(files) for _, _, files in os.walk(path))
    with path.open("rb") as file:
        if path.suffix in {".jsonl", ".json"}:
            return sum(1 for _ in file)
        return _records(file) - 1


def _records(file: BinaryIO) -> int:
    """Records of a CSV file. A line break counts where the number of quotes so far is even.

    Made for tables of gigabytes: no cell becomes a Python object.
    """
    import numpy as np

    count, inside, last = 0, False, b"\n"
    while chunk := file.read(1 << 22):
        last = chunk[-1:]
        if not inside and b'"' not in chunk:
            count += chunk.count(b"\n")
            continue
        codes = np.frombuffer(chunk, dtype=np.uint8)
        odd = np.bitwise_xor.accumulate(codes == ord('"')) ^ inside
        count += int(np.count_nonzero((codes == ord("\n")) & ~odd))
        inside = bool(odd[-1])
    return count + (last != b"\n")
