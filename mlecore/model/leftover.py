"""What somebody may want to remove from a disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class Leftover:
    """A file or folder that is no longer needed, unless ``needed``."""

    path: Path
    bytes: int
    remove: Callable[[], None]  # raises OSError, and LockHeld if somebody uses it
    why: str = "was left by a command that was killed"
    needed: bool = False  # then ``why`` tells by whom
