"""Small files of a job's folder: read whole, replaced atomically."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

from mlecore_jobs import spare

STATE = "state.json"  # what the supervisor says about the job
SPEC = "job.json"  # what is to be started
STOP = "stop"  # a request to end: the grace in seconds
LOCK = "lock"  # held by the supervisor for as long as it lives
OUTPUT = "output"  # what the job printed


def write_json(path: str, value: Any, *, durable: bool = False) -> None:
    """Replace ``path``; a reader sees the old content or the new. ``durable``: the new one survives a power loss."""
    new = f"{path}.{os.getpid()}.partial"
    spare.write(Path(path).parent, partial(_write_new, new, value, durable))
    os.replace(new, path)  # noqa: PTH105
    if durable:
        folder = os.open(os.path.dirname(path), os.O_RDONLY)  # noqa: PTH120
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_new(path: str, value: Any, durable: bool) -> None:
    with open(path, "w", encoding="utf-8") as out:  # noqa: PTH123
        json.dump(value, out)
        if durable:
            out.flush()
            os.fsync(out.fileno())


def write_secrets(path: str, value: Any) -> None:
    """A new file that only this user can read."""
    secrets = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(secrets, "w") as out:
        json.dump(value, out)


def read_json(path: str) -> dict[str, Any] | None:
    """The object in ``path``; None if it is missing, or incomplete after a crash of the machine."""
    try:
        with open(path, encoding="utf-8") as source:  # noqa: PTH123
            value = json.load(source)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def sync_disk(folder: str) -> None:
    """Make all that was written to the disk of ``folder`` survive a power loss. Raises OSError if it cannot.

    With syncfs, which a home of a million files does not slow down; if Python lacks it, with sync.
    """
    try:
        import ctypes

        syncfs = ctypes.CDLL(None, use_errno=True).syncfs
    except (ImportError, AttributeError):
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), folder)
    finally:
        os.close(descriptor)
