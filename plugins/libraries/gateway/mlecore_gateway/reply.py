"""What the agent gets: held back until it is known to be an answer and no error, then streamed as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import time

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from .masking import Mask

HELD = 64 * 1024  # bytes of a response that are held back
HELD_SECONDS = 30.0  # for which they are
STALL_SECONDS = 60.0  # in total that a client may delay an answer: it holds a place that others wait for

_NOT_RETURNED = frozenset("connection proxy-connection keep-alive te trailer transfer-encoding upgrade".split())


class Reply:
    """The response to one request of the agent; ``origin`` is the endpoint's, which is cut off redirections."""

    def __init__(self, request: web.BaseRequest, mask: Mask, origin: str) -> None:
        self.response: web.StreamResponse | None = None  # None: nothing was sent yet
        self.gone = ""  # why the client gets no more; empty while it reads
        self._request = request
        self._mask = mask
        self._origin = origin
        self._held = bytearray()
        self._held_until = 0.0
        self._stalled = 0.0

    def hold(self) -> None:
        """Hold back what comes from now on; forget what an earlier attempt held."""
        self._held.clear()
        self._held_until = time.monotonic() + HELD_SECONDS

    @property
    def held_enough(self) -> bool:
        """Must it begin, although nobody knows yet whether it is an answer?"""
        return len(self._held) > HELD or time.monotonic() > self._held_until

    def is_unwanted(self) -> bool:
        """Has the client hung up?"""
        if self._request.transport is None or self._request.transport.is_closing():
            self.gone = "the client hung up"
        return bool(self.gone)

    async def begin(self, answer: aiohttp.ClientResponse, keep_length: bool) -> None:
        """Send the endpoint's status and headers, and what was held back."""
        headers = CIMultiDict[str]()
        for name, value in answer.headers.items():
            lower = name.lower()
            if lower in _NOT_RETURNED or (lower in ("content-length", "content-encoding") and not keep_length):
                continue
            if lower == "location" and value.startswith(self._origin + "/"):
                value = value[len(self._origin) :]
            headers.add(self._mask.name(name), self._mask.text(value))
        reason = None if answer.reason is None else self._mask.text(answer.reason)
        self.response = web.StreamResponse(status=answer.status, reason=reason, headers=headers)
        try:
            await self.response.prepare(self._request)
        except ConnectionError:
            self.gone = "the client hung up"
        await self.write(bytes(self._held))
        self._held.clear()

    async def write(self, piece: bytes) -> None:
        """Nothing is written to a client that is gone, but its answer is read to the end: it must be counted."""
        if self.response is None:
            self._held += piece
            return
        if self.gone or not piece:
            return
        began = time.monotonic()
        try:
            async with asyncio.timeout(STALL_SECONDS - self._stalled):
                await self.response.write(piece)
        except ConnectionError:
            self.gone = "the client hung up"
        except TimeoutError:
            self.gone = "the client did not read the answer"
            if self._request.transport is not None:
                self._request.transport.abort()
        self._stalled += time.monotonic() - began

    async def end(self) -> None:
        if self.response is not None and not self.gone:
            with contextlib.suppress(ConnectionError):
                await self.response.write_eof()
