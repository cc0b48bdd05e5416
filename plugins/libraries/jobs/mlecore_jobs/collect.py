"""Copy files out of a job's home, with what its relay and its gateway wrote outside of it."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Sequence
from pathlib import Path

from mlecore.errors import BackendError
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import OUTSIDE_LOGS, Fetched, Receiver, Selection
from mlecore_jobs.walking import walk


def collect(home: Path, globs: Sequence[str], into: Path, max_bytes: int, max_files: int, outside: Path) -> Fetched:
    """See ``Backend.fetch``; ``outside`` is the folder where relay and gateway write, if the job has them."""
    wanted = [Glob(text) for text in globs]
    receiver = Receiver(into, max_bytes, max_files)
    select(receiver, home, wanted, outside)
    return receiver.fetched()


def select(receiver: Selection, home: Path, wanted: Sequence[Glob], outside: Path) -> None:
    """Offer all files that match to ``receiver``."""
    for path in OUTSIDE_LOGS:
        with contextlib.suppress(FileNotFoundError), (outside / path.name).open("rb") as source:
            receiver.take_outside_log(path, wanted, source)
    try:
        walk(str(home), wanted, receiver)
    except OSError as error:
        if not _spoilt(home):
            raise BackendError(f"cannot read {home}: {error.strerror}") from None
        receiver.refuse("", f"its home cannot be read: {error.strerror}")


def _spoilt(home: Path) -> bool:
    """Is it the agent's doing that its home cannot be read? Without a sandbox, it can even replace it."""
    try:
        mode = home.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISDIR(mode) or mode & stat.S_IRWXU != stat.S_IRWXU
