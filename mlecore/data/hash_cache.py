"""SHA-256 of files that were hashed while they were unpacked, so that links to them are not read again."""

from __future__ import annotations

import os

from mlecore.data.file_order import NEUTRAL_TIME

Known = tuple[int, int, bytes]  # a file's device and inode, and its SHA-256


class HashCache:
    """Hashes by inode, on one disk. A file whose time is not NEUTRAL_TIME has changed since."""

    def __init__(self) -> None:
        self._device = 0
        self._digests: dict[int, bytes] = {}

    def add(self, device: int, number: int, digest: bytes) -> None:
        """Add the SHA-256 of a file whose time is NEUTRAL_TIME."""
        self._device = device
        self._digests[number] = digest

    def sha256(self, status: os.stat_result) -> bytes | None:
        """The hash of the file with this status; None: it must be read."""
        if status.st_mtime_ns != NEUTRAL_TIME * 10**9 or status.st_dev != self._device:
            return None
        return self._digests.get(status.st_ino)
