"""Disk space that a folder reserves for files that must be written even when the disk is full.

Standard library only, because supervisors of jobs use it, too.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FULL = (errno.ENOSPC, errno.EDQUOT)
_NAME, _SIZE = ".spare", 1 << 18


def keep(folder: Path) -> None:
    """Reserve the space, unless that is done or there is none."""
    try:
        with (folder / _NAME).open("xb", buffering=0) as out:
            out.write(os.urandom(_SIZE))  # zeros take no space on some disks
    except OSError:
        return


def write(folder: Path, action: Callable[[], T]) -> T:
    """Run ``action``; on a full disk, free the reserved space and run it again. Raises its exceptions."""
    try:
        return action()
    except OSError as error:
        if error.errno not in FULL:
            raise
        try:
            (folder / _NAME).unlink()
        except OSError:
            raise error from None
    return action()
