"""What a job prints, moved from its pipe or terminal to a file of limited size, which the job cannot reach."""

from __future__ import annotations

import os

LIMIT = 512 * 1024 * 1024
_CHUNK = 1 << 16
_CUT = b"\n[mlecore: the rest of the output is dropped, it is too much]\n"


class Output:
    """Moves bytes; those that cannot be written (limit, full disk) are dropped, so that the job never waits."""

    def __init__(self, source: int, path: str, limit: int = LIMIT) -> None:
        self._source = source
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._left = limit

    def pump(self) -> bool:
        """Move what is there now; False when the other end is closed."""
        try:
            count = self._copy() if self._left > 0 else len(os.read(self._source, 1 << 16))
        except BlockingIOError:
            return True
        except OSError:  # a terminal whose other end is closed says EIO
            return False
        if self._left > 0:
            self._left -= count
            if self._left <= 0:
                self._write(_CUT)
        return count > 0

    def drain(self) -> None:
        """All output so far."""
        for _ in range(64):
            try:
                if not self._copy():
                    return
            except OSError:
                return

    def _copy(self) -> int:
        data = os.read(self._source, min(self._left, _CHUNK))
        self._write(data)
        return len(data)

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._file, data) :]
            except OSError:
                return
