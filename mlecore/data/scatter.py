"""Numbers and times of files (inodes, mtime) that tell nothing about the order in which the raw data were written."""

from __future__ import annotations

import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from mlecore.data.disk_space import require

T = TypeVar("T")

WHEN = 946_684_800  # 2000-01-01, of every file whose own time would reveal its position among the others


def shuffled(items: Iterable[T]) -> list[T]:
    """In an order that nobody can repeat."""
    found = list(items)
    keys = memoryview(os.urandom(8 * len(found))).cast("Q").tolist()  # a third of the time of SystemRandom().shuffle
    return [found[position] for position in sorted(range(len(found)), key=keys.__getitem__)]


@contextmanager
def nest(folder: Path) -> Iterator[str]:
    """A new folder in ``folder``, to make files in, in an order that tells nothing, before they are moved.

    Many file systems take a file's number from near that of the folder that it is made in, and folders may be labels.
    """
    path = f"{folder}/{secrets.token_hex(8)}"
    Path(path).mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def scatter_links(folder: Path) -> None:
    """Replace each file below ``folder`` that has other names, too, by a copy, unless it is the only one of its kind.

    Files linked from raw data that were written label by label, or unpacked so by the user, have numbers and times
    that tell the label. Those of a table that lies on top, alone, tell nothing of any other file. Raises DataError when
    the disk has too little room.
    """
    sizes = dict(_linked(folder))
    on_top = {path: Path(path).suffix for path in sizes if path.rpartition("/")[0] == str(folder)}
    kinds = Counter(on_top.values())
    for path, kind in on_top.items():
        if kinds[kind] == 1:
            del sizes[path]
    require(folder, sum(sizes.values()), "copies of raw files, in a random order")
    with nest(folder) as nested:
        for path in shuffled(sizes):
            shutil.copyfile(path, f"{nested}/copy")
            os.utime(f"{nested}/copy", (WHEN, WHEN))
            os.replace(f"{nested}/copy", path)  # noqa: PTH105 - half the time of Path


def _linked(folder: Path) -> Iterator[tuple[str, int]]:
    """Path and size of each file that has other names."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = f"{place}/{name}"
            status = os.lstat(path)
            if status.st_nlink > 1:
                yield path, status.st_size
