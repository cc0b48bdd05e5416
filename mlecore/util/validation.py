"""Checks paths and names from Python callers: an invalid one is a UsageError that names the expected value."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mlecore.errors import UsageError

_LONGEST = 255  # bytes of a file name, on every usual file system


def path(value: object, what: str) -> Path:
    """``value`` as a path. ``what`` names it in the error: "a submission". Raises UsageError."""
    found = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(found, str):
        raise UsageError(f"{what} is given as a path, not as {type(value).__name__}")
    if "\0" in found or any(len(os.fsencode(part)) > _LONGEST for part in Path(found).parts):
        raise UsageError(f"{what} cannot be at {found[:60]!r}: no file has such a name")
    return Path(found)


def paths(value: object, what: str) -> tuple[Path, ...]:
    """One, or several. Raises UsageError."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike)):
        return tuple(path(each, what) for each in value)
    return (path(value, what),)


def text(value: object, what: str) -> str:
    """Raises UsageError."""
    if not isinstance(value, str):
        raise UsageError(f"{what} is given as text, not as {type(value).__name__}")
    return value


def texts(value: object, what: str) -> tuple[str, ...]:
    """One, or several. Raises UsageError."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return tuple(text(each, what) for each in value)
    return (text(value, what),)
