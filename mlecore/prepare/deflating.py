"""Deflating on all cores, as pigz does: in blocks, each with the end of the one before as its dictionary."""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

_BLOCK = 1 << 20
_WINDOW = 1 << 15  # bytes that zlib can refer back to


class Deflate:
    """For ``zlib.compressobj(wbits=-15)``; the bytes do not depend on the number of cores."""

    def __init__(self) -> None:
        self._cores = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._cores)
        self._waiting: deque[Future[bytes]] = deque()
        self._block, self._before = bytearray(), b""

    def compress(self, data: bytes) -> bytes:
        """What is ready to be written; at most two blocks per core wait."""
        self._block += data
        while len(self._block) > _BLOCK:
            self._submit(bytes(self._block[:_BLOCK]), zlib.Z_SYNC_FLUSH)
            del self._block[:_BLOCK]
        return b"".join(self._ready(2 * self._cores))

    def flush(self) -> bytes:
        """The rest."""
        self._submit(bytes(self._block), zlib.Z_FINISH)
        with self._pool:
            return b"".join(self._ready(0))

    def _submit(self, block: bytes, end: int) -> None:
        self._waiting.append(self._pool.submit(_deflated, block, self._before, end))
        self._before = block[-_WINDOW:]

    def _ready(self, waiting: int) -> Iterator[bytes]:
        while len(self._waiting) > waiting:
            yield self._waiting.popleft().result()


def _deflated(block: bytes, before: bytes, end: int) -> bytes:
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS, zdict=before)
    return deflate.compress(block) + deflate.flush(end)
