"""Requests to the controller of a group, left as files in a run's folder by whoever wants it cancelled or retried."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Literal

Request = Literal["cancel", "retry"]
REQUESTS: tuple[Request, ...] = ("cancel", "retry")
_STAMP = ".requests"  # in the group's folder; changes with each request, so that nobody looks through all runs


def leave(run: Path, request: Request) -> None:
    """Ask for something; the folder of a run that has not begun is made for it."""
    run.mkdir(exist_ok=True)
    (run / f"{request}.request").touch()
    notify(run.parent)


def notify(group: Path) -> None:
    temporary = group / f"{_STAMP}.{os.getpid()}.tmp"
    temporary.write_text(secrets.token_hex(8))
    temporary.replace(group / _STAMP)


def stamp(group: Path) -> str:
    """What changes with every new request."""
    try:
        return (group / _STAMP).read_text()
    except OSError:
        return ""


def pending(group: Path) -> dict[str, Request]:
    """Run folder -> what is asked of it; of both, the cancellation."""
    found: dict[str, Request] = {}
    with os.scandir(group) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in names:
        for request in REQUESTS:
            if (group / name / f"{request}.request").exists():
                found[name] = request
                break
    return found


def done(run: Path) -> None:
    """Requests of a run have been met or cannot be."""
    for request in REQUESTS:
        (run / f"{request}.request").unlink(missing_ok=True)
