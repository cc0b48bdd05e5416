"""SHA-256 of files that were hashed while they were unpacked: links to them need not be read again."""

from __future__ import annotations

import os

from mlecore.data.scatter import WHEN

Known = tuple[int, int, bytes]  # the device and number of a file, and its SHA-256


class HashCache:
    """By number of the file, on one disk. A file that somebody has written to since has another time than WHEN."""

    def __init__(self) -> None:
        self._device = 0
        self._digests: dict[int, bytes] = {}

    def add(self, device: int, number: int, digest: bytes) -> None:
        """A file, whose time is set to WHEN, has this SHA-256."""
        self._device = device
        self._digests[number] = digest

    def sha256(self, status: os.stat_result) -> bytes | None:
        """Of the file of this status; None: it must be read."""
        if status.st_mtime_ns != WHEN * 10**9 or status.st_dev != self._device:
            return None
        return self._digests.get(status.st_ino)
