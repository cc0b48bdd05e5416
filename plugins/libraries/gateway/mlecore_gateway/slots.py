"""How many calls may be under way at once, over all gateways that share a folder: as many as there are locks in it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_SHORTEST, _LONGEST = 0.02, 0.25  # seconds between two looks


class Slots:
    """For one endpoint. The kernel frees what a killed gateway held."""

    def __init__(self, folder: Path, endpoint: str, count: int) -> None:
        self._folder = folder / hashlib.sha256(endpoint.encode()).hexdigest()[:16]
        self._count = count
        self._turn = asyncio.Lock()  # one task of this process tries at a time, in the order in which they came

    @asynccontextmanager
    async def one(self) -> AsyncIterator[float]:
        """Hold one; yields the seconds that it was waited for."""
        began = time.monotonic()
        async with self._turn:
            pause = _SHORTEST
            while (held := self._take()) is None:
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2 * pause, _LONGEST)
        try:
            yield time.monotonic() - began
        finally:
            os.close(held)

    def _take(self) -> int | None:
        self._folder.mkdir(mode=0o777, parents=True, exist_ok=True)
        first = random.randrange(self._count)
        for number in range(self._count):
            path = self._folder / str((first + number) % self._count)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            os.close(lock)
        return None


@asynccontextmanager
async def unlimited() -> AsyncIterator[float]:
    """Without a limit."""
    yield 0.0
