"""Hide the order in which raw data were written: inodes and times of public files must not reveal labels."""

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

NEUTRAL_TIME = 946_684_800  # 2000-01-01: replaces times that would reveal a file's position


def shuffled(items: Iterable[T]) -> list[T]:
    """The items in an order that nobody can reproduce."""
    found = list(items)
    keys = memoryview(os.urandom(8 * len(found))).cast("Q").tolist()  # a third of the time of SystemRandom().shuffle
    return [found[position] for position in sorted(range(len(found)), key=keys.__getitem__)]


@contextmanager
def staging_folder(folder: Path) -> Iterator[str]:
    """A temporary folder in ``folder`` in which files are created in random order before they are moved.

    Many file systems give a file an inode close to that of its folder, and folders may stand for labels.
    """
    path = f"{folder}/{secrets.token_hex(8)}"
    Path(path).mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def replace_links(folder: Path) -> None:
    """Replace hard links below ``folder`` by copies, created in random order.

    If raw data were written label by label, or the user unpacked them so, inodes and times of files linked from them
    reveal the labels. A file at the top that is the only one of its suffix, such as a table, reveals nothing and stays
    a link. Raises DataError if the disk has too little room.
    """
    sizes = dict(_linked(folder))
    on_top = {path: Path(path).suffix for path in sizes if path.rpartition("/")[0] == str(folder)}
    kinds = Counter(on_top.values())
    for path, kind in on_top.items():
        if kinds[kind] == 1:
            del sizes[path]
    require(folder, sum(sizes.values()), "copies of raw files, in a random order")
    with staging_folder(folder) as staging:
        for path in shuffled(sizes):
            shutil.copyfile(path, f"{staging}/copy")
            os.utime(f"{staging}/copy", (NEUTRAL_TIME, NEUTRAL_TIME))
            os.replace(f"{staging}/copy", path)  # noqa: PTH105 - half the time of Path


def _linked(folder: Path) -> Iterator[tuple[str, int]]:
    """Path and size of each file with more than one link."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = f"{place}/{name}"
            status = os.lstat(path)
            if status.st_nlink > 1:
                yield path, status.st_size
