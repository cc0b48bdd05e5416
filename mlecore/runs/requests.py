"""Requests to a group's controller, left as files: cancel or retry a run.

``requests/cancel/RUN``, ``requests/retry/RUN`` and ``requests/force/RUN`` (a retry, even if there is a result) in the
group's folder, and ``requests/cancel/all`` for every run that has not ended.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, get_args

from mlecore.util import files
from mlecore_jobs import spare

Request = Literal["cancel", "force", "retry"]  # the first one wins
ALL = "all"  # stands for a run's name; those contain "--"
_REQUESTS: tuple[Request, ...] = get_args(Request)


def leave(group: Path, run: str, request: Request) -> None:
    """Leave a request for a run, or to cancel ``ALL``."""
    spare.write(group, partial(_leave, group, _path(group, run, request)))


def prepare(group: Path) -> None:
    """Create the folders, so that a request takes no room on a full disk. Raises OSError."""
    for request in _REQUESTS:
        files.make_folder(_path(group, ALL, request).parent, below=group)


def pending(group: Path) -> dict[str, Request]:
    """Each run's request; of several, the first by kind."""
    found: dict[str, Request] = {}
    for request in reversed(_REQUESTS):
        try:
            found.update((path.name, request) for path in (group / "requests" / request).iterdir())
        except OSError:  # no request yet, or the disk is unmounted
            continue
    return found


def remove(group: Path, run: str) -> None:
    """Remove a run's requests: they are fulfilled, or cannot be."""
    for request in _REQUESTS:
        _path(group, run, request).unlink(missing_ok=True)


def _leave(group: Path, path: Path) -> None:
    files.make_folder(path.parent, below=group)
    path.touch()


def _path(group: Path, run: str, request: Request) -> Path:
    return group / "requests" / request / run
