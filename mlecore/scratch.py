"""Temporary folders that show whether their process is still at work, so that those of killed ones can be removed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlecore.files import remove

_SCRATCH = "mlecore-scratch-"
_SURELY_HELD = 10.0  # seconds after which the process that created a folder surely holds it
_ABANDONED = 24 * 3600.0  # seconds, if the disk has no locks that show who is at work


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder. Those that killed processes left are removed."""
    import tempfile

    for left in abandoned_scratch():
        with suppress(OSError):
            remove(left)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH) as name, held(Path(name)):
        yield Path(name)


def abandoned_scratch() -> Iterator[Path]:
    """Temporary folders of this user's processes that were killed."""
    import tempfile

    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*")):
        with suppress(OSError):  # another user's, or gone meanwhile
            if path.lstat().st_uid == os.getuid() and abandoned(path):
                yield path


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder while it is worked on, so that it is not ``abandoned``; the kernel frees it after a kill."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def abandoned(folder: Path) -> bool:
    """Has the process died that held this folder? Raises OSError if it cannot be opened."""
    age = time.time() - folder.stat().st_mtime
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        locked = _lock(descriptor)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return age > (_SURELY_HELD if locked else _ABANDONED)


def _lock(descriptor: int) -> bool:
    """False if a disk has no locks. Raises BlockingIOError if somebody else has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True
