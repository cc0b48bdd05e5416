"""Temporary folders that are locked while their process lives, so that those of killed processes can be removed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlecore.util.files import remove

_SCRATCH = "mlecore-scratch-"
_SURELY_HELD = 10.0  # seconds after which a living process has certainly locked its folder
_ABANDONED = 24 * 3600.0  # seconds, if the disk has no locks


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder. Also removes those of killed processes."""
    import tempfile

    for left in abandoned_scratch():
        with suppress(OSError):
            remove(left)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH) as name, held(Path(name)):
        yield Path(name)


def abandoned_scratch() -> Iterator[Path]:
    """Temporary folders of this user's killed processes."""
    import tempfile

    for path in sorted(Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*")):
        with suppress(OSError):  # another user's, or removed meanwhile
            if path.lstat().st_uid == os.getuid() and abandoned(path):
                yield path


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, so that it does not count as ``abandoned``. The kernel frees it after a kill."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def abandoned(folder: Path) -> bool:
    """Is the process dead that held this folder? Raises OSError if it cannot be opened."""
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
    """Take the lock; False if the disk has no locks. Raises BlockingIOError if another process holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True
