"""Numbers and times of files (inodes, mtime) that tell nothing about the order in which the raw data were written."""

from __future__ import annotations

import os
import random
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

WHEN = 946_684_800  # 2000-01-01, of every file whose own time would reveal its position among the others


def shuffled(paths: Iterable[str]) -> list[str]:
    """In an order that nobody can repeat."""
    found = list(paths)
    random.SystemRandom().shuffle(found)
    return found


def scatter_links(folder: Path) -> int:
    """Replace each file below ``folder`` that has other names, too, by a copy; returns how many.

    Files linked from raw data that were written label by label, or unpacked so by the user, have numbers and times
    that tell the label. Many file systems take a file's number from near that of the folder that it is made in, so all
    copies are made in the topmost one, in a random order, and moved.
    """
    found = [
        path
        for place, _, names in os.walk(folder)
        for name in names
        if os.lstat(path := f"{place}/{name}").st_nlink > 1
    ]
    new = f"{folder}/{secrets.token_hex(8)}"
    for path in shuffled(found):
        shutil.copyfile(path, new)
        os.utime(new, (WHEN, WHEN))
        os.replace(new, path)  # noqa: PTH105 - half the time of Path
    return len(found)
