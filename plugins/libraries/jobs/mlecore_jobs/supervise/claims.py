"""What only one job may have at a time (GPUs, CPUs): a lock for each, shared by all controllers of a state root.

A lock lasts as long as the supervisor that holds it, so that nothing has to be returned.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable


def claim(folder: str, kind: str, ids: Iterable[str], count: int, owner: str) -> dict[str, int]:
    """Lock up to ``count`` free ones of ``ids``: id -> the descriptor that holds its lock."""
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    held: dict[str, int] = {}
    for name in ids:
        if len(held) >= count:
            break
        lock = os.open(f"{folder}/{kind}-{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            continue
        os.ftruncate(lock, 0)
        os.write(lock, owner.encode())
        held[name] = lock
    return held


def release(held: dict[str, int]) -> None:
    for lock in held.values():
        os.close(lock)
    held.clear()


def holders(folder: str, kind: str, ids: Iterable[str]) -> str:
    """Who held them last, in words."""
    words = []
    for name in ids:
        try:
            with open(f"{folder}/{kind}-{name}") as source:  # noqa: PTH123
                words.append(f"{name}: {source.read() or 'nobody'}")
        except OSError:
            continue
    return ", ".join(words)
