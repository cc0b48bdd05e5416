"""Requests to the controller of a group, left as files by people who want a run cancelled or retried.

``requests/cancel/RUN``, ``requests/retry/RUN`` and ``requests/force/RUN`` (a retry, even if there is a result) in the
group's folder, and ``requests/cancel/all`` for every run that has not ended.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, get_args

from mlecore import files, spare

Request = Literal["cancel", "force", "retry"]  # the first one wins
ALL = "all"  # in the place of a run's name; those have "--" in them
_REQUESTS: tuple[Request, ...] = get_args(Request)


def leave(group: Path, run: str, request: Request) -> None:
    """Ask for something to be done with a run, or for ``ALL`` of them to be cancelled."""
    spare.write(group, partial(_leave, group, _path(group, run, request)))


def prepare(group: Path) -> None:
    """Make the folders, so that a request takes no room on a full disk. Raises OSError."""
    for request in _REQUESTS:
        files.make_folder(_path(group, ALL, request).parent, below=group)


def pending(group: Path) -> dict[str, Request]:
    """Run -> its request; if there are several, the first of their kinds."""
    found: dict[str, Request] = {}
    for request in reversed(_REQUESTS):
        try:
            found.update((path.name, request) for path in (group / "requests" / request).iterdir())
        except OSError:  # there never was one, or the disk is unmounted
            continue
    return found


def remove(group: Path, run: str) -> None:
    """A run's requests have been fulfilled, or cannot be."""
    for request in _REQUESTS:
        _path(group, run, request).unlink(missing_ok=True)


def _leave(group: Path, path: Path) -> None:
    files.make_folder(path.parent, below=group)
    path.touch()


def _path(group: Path, run: str, request: Request) -> Path:
    return group / "requests" / request / run
