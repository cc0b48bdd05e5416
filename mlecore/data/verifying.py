"""Are prepared data what the benchmark says? Its checksums, and the counts that hold for Kaggle's data only."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlecore.facts import Facts


def wrong_checksums(root: Path, facts: Facts) -> list[str]:
    """Each file whose MD5 is not the published one, with both values; those that only inform are left out."""
    wanted = {
        path: md5
        for path, md5 in facts.md5.items()
        if path != "zip" and path not in facts.md5_informs and "@" not in path.partition("/")[0]
    }
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(wanted, pool.map(lambda path: _md5(root / path), wanted), strict=True))
    return [
        f"{path}: " + (f"MD5 {found[path]}, expected {md5}" if found[path] else "is missing")
        for path, md5 in wanted.items()
        if found[path] != md5
    ]


def wrong_counts(root: Path, facts: Facts) -> list[str]:
    """Each of ``[expect]`` that does not hold: rows of a table (without its header), files below a folder."""
    return [
        f"{path}: {count} {what}, expected {wanted}"
        for path, expected in facts.expect.items()
        for what, wanted in expected.items()
        if (count := _count(root / path, what)) != wanted
    ]


def _md5(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _count(path: Path, what: str) -> int | None:
    """None: it is not there."""
    if not path.exists():
        return None
    if what == "files":
        return sum(len(files) for _, _, files in os.walk(path))
    if path.suffix in {".jsonl", ".json"}:
        with path.open("rb") as lines:
            return sum(1 for _ in lines)
    return sum(1 for _ in _records(path)) - 1


def _records(path: Path) -> Iterator[list[str]]:
    csv.field_size_limit(2**31 - 1)  # some cells are long
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        yield from csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
