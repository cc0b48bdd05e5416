"""Room that a folder keeps for what must be written when the disk is full.

Standard library only: supervisors of jobs use it, too.
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
    """Take the room, unless that was done, or there is none."""
    try:
        with (folder / _NAME).open("xb", buffering=0) as out:
            out.write(os.urandom(_SIZE))  # zeros take none on some disks
    except OSError:
        return


def write(folder: Path, action: Callable[[], T]) -> T:
    """Do it; on a full disk once more, in the room that was kept. Raises what it raises."""
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
