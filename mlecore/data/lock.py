"""One lock per competition, so that two processes never prepare the same data at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util.locks import Lock


class Unwritable(DataError):
    """The folder cannot be written to."""


@contextmanager
def lock(folder: Path, activity: str, wait: Callable[[str], bool] | None = None) -> Iterator[None]:
    """Hold the lock of a competition's folder during an activity ("preparing tiny").

    ``wait`` and errors: see ``Lock.acquire``. Raises Unwritable if the folder cannot be written to.
    """
    held = Lock(folder / ".lock", activity, fix="Wait until it has ended, then try again.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held.acquire(wait)
    except OSError as error:
        raise Unwritable(
            f"{error.filename or folder} cannot be written or locked: {error.strerror}",
            fix="Name another data directory: --data DIR, or MLECORE_DATA",
        ) from None
    try:
        yield
    finally:
        held.release()
