"""Bounds the memory that requests and answers take in all: a request waits until there is room for it."""

from __future__ import annotations

import asyncio


class Memory:
    """So many bytes for all calls of a run."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    async def take(self, size: int) -> None:
        """Wait for room, in the order of asking."""
        async with self._turn:
            while not self.try_take(size):
                self._freed.clear()
                await self._freed.wait()

    def try_take(self, size: int) -> bool:
        """Take it if there is room now."""
        if self._taken + size > self._limit:
            return False
        self._taken += size
        return True

    def give_back(self, size: int) -> None:
        self._taken -= size
        self._freed.set()
