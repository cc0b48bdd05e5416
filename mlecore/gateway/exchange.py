"""One call in progress: pass it on, stream the answer back as it comes, and count what it used."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from email.utils import parsedate_to_datetime
from typing import Protocol

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from .admission import Admitted
from .asking import Asked
from .calls import Call, Tokens, short
from .faults import Faults
from .masking import Mask
from .prices import Prices
from .reading import Body, Events, Report, Unreadable, decoder
from .refusals import Refusal
from .settings import Settings
from .transcripts import RESPONSE, Transcripts

STALL_SECONDS = 60.0  # in total that a client may delay an answer: it holds a place that others wait for
LONGEST_WAIT = 600.0  # before a retry
ERROR = 4096  # bytes of an error that are read to judge it

_RETRIED = (429, 500, 502, 503, 504, 529)
_NOT_RETURNED = frozenset("connection proxy-connection keep-alive te trailer transfer-encoding upgrade".split())
_UNKNOWN_FIELD = b"stream_options"


class Cut(Exception):
    """The answer was cut; the message says why."""


class Way(Protocol):
    """What all calls of a run share."""

    settings: Settings
    session: aiohttp.ClientSession
    prices: Prices
    transcripts: Transcripts | None
    faults: Faults
    asks_usage: bool  # until the endpoint says that it does not know the field

    def slot(self) -> AbstractAsyncContextManager[float]:
        """A place among the concurrent calls; yields the seconds that it was waited for."""


class Exchange:
    """One call. ``run`` answers the agent; ``count`` then completes the call's line."""

    def __init__(self, way: Way, request: web.BaseRequest, call: Call, asked: Asked, admitted: Admitted) -> None:
        base = way.settings.base
        self.way = way
        self.request = request
        self.call = call
        self.asked = asked
        self.origin = f"{base.scheme}://{base.netloc}"
        self.url = URL(self.origin + admitted.target, encoded=True)
        self.headers = admitted.headers
        self.mask = Mask(way.settings.key)
        self.report = Report()
        self.response: web.StreamResponse | None = None
        self.status: int | None = None  # the endpoint's
        self.gone = False  # the client
        self.stalled = 0.0
        self.kept = bytearray()  # of the response, for the transcript

    async def run(self) -> web.StreamResponse:
        """Raises Cut if the agent does not get the whole answer."""
        while self.response is None:
            if self.request.transport is None or self.request.transport.is_closing():
                self.gone = True
                raise Cut("the client hung up before its call was passed on")
            async with self.way.slot() as waited:
                self.call.waited = round(self.call.waited + waited, 3)
                pause = await self._attempt()
            if pause:
                self.call.retries += 1
                self.call.waited = round(self.call.waited + pause, 3)
                await asyncio.sleep(pause)
        return self.response

    async def _attempt(self) -> float:
        """Pass it on once. Where there is no response then: after how many seconds it is to be passed on again."""
        hide = self.asked.with_usage is not None and self.way.asks_usage
        body = self.asked.with_usage if hide else self.asked.body
        if hide:
            self.headers["Accept-Encoding"] = "identity"  # what is masked must be readable
        self.call.sent = len(body or b"")
        sent = time.monotonic()
        try:
            async with self.way.session.request(
                self.call.method,
                self.url,
                data=body or None,
                headers=self.headers,
                proxy=self.way.settings.proxy,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            ) as answer:
                self.status = answer.status
                if answer.status in _RETRIED and self.call.retries < self.way.settings.retries:
                    return _pause(answer.headers.get("Retry-After"), self.call.retries)
                first = b""
                if hide and answer.status in (400, 422):
                    first = await answer.content.read(64 * 1024)
                    if _UNKNOWN_FIELD in first:
                        self.way.asks_usage = False
                        return 0.0
                if answer.status >= 400:  # judged before the agent learns of it, which may end the run
                    first = first or await answer.content.read(ERROR)
                    text = _text(first, answer.headers.get("Content-Encoding", ""))
                    await self.way.faults.judge(self.call, answer.status, text)
                await self._return(answer, hide, first, sent)
        except (aiohttp.ClientError, OSError) as error:
            what = self.mask.text(str(error) or type(error).__name__)
            if self.response is not None:
                await self.way.faults.judge(self.call, None)
                raise Cut(f"the endpoint's answer broke off: {what}") from None
            if self.call.retries < self.way.settings.retries:
                return _pause(None, self.call.retries)
            await self.way.faults.judge(self.call, None)
            self._fail(f"the model's endpoint cannot be reached: {what}")
        return 0.0

    def _fail(self, reason: str) -> None:
        """Without an answer to pass on, the agent gets one of ours."""
        self.call.outcome, self.call.reason, self.call.status = "failed", short(reason), 502
        refusal = Refusal(502, self.call.reason, "api_error", final=False)
        self.response = web.Response(status=502, body=refusal.body(), headers=refusal.headers())

    async def _return(self, answer: aiohttp.ClientResponse, hide: bool, first: bytes, sent: float) -> None:
        encoding = answer.headers.get("Content-Encoding", "").strip().lower()
        events = "event-stream" in answer.headers.get("Content-Type", "").lower()
        hide = hide and events
        reader = Events(self.report, hide) if events else Body(self.report)
        try:
            decode = decoder(encoding)
        except Unreadable as error:
            self._fail(str(error))
            return
        self.call.outcome, self.call.status = "passed", answer.status
        as_it_came = encoding not in ("", "identity") and not hide
        await self._begin(answer, keep_length=not hide)
        try:
            async for piece in _pieces(first, answer):
                if self.call.first_byte is None:
                    self.call.first_byte = round(time.monotonic() - sent, 4)
                self.call.received += len(piece)
                shown = b"".join(self.mask.feed(reader.feed(part)) for part in decode(piece))
                self._keep(shown)
                if as_it_came and self.mask.hits:
                    raise Cut("the endpoint sent the key back, compressed")
                await self._write(piece if as_it_came else shown)
        except Unreadable as error:
            raise Cut(str(error)) from None
        finally:
            last = self.mask.feed(reader.rest()) + self.mask.rest()
            self._keep(last)
            await self._write(b"" if as_it_came else last)
        if self.report.error and answer.status < 400:
            self.call.outcome, self.call.reason = "failed", "the endpoint's answer ended in an error"
            await self.way.faults.judge(self.call, None)
        elif answer.status < 400:
            self.way.faults.answered(self.call)
        if not self.gone:
            assert self.response is not None
            with contextlib.suppress(ConnectionError):
                await self.response.write_eof()

    async def _begin(self, answer: aiohttp.ClientResponse, keep_length: bool) -> None:
        headers = CIMultiDict[str]()
        for name, value in answer.headers.items():
            lower = name.lower()
            if lower in _NOT_RETURNED or (lower in ("content-length", "content-encoding") and not keep_length):
                continue
            if lower == "location" and value.startswith(self.origin + "/"):
                value = value[len(self.origin) :]
            headers.add(name, self.mask.text(value))
        self.response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
        try:
            await self.response.prepare(self.request)
        except ConnectionError:
            self.gone = True

    def _keep(self, piece: bytes) -> None:
        if self.way.transcripts is not None:
            self.kept += piece[: max(0, RESPONSE - len(self.kept))]

    async def _write(self, piece: bytes) -> None:
        """Nothing is written to a client that is gone, but its answer is read to the end: it must be counted."""
        if self.gone or not piece:
            return
        assert self.response is not None
        began = time.monotonic()
        try:
            async with asyncio.timeout(STALL_SECONDS - self.stalled):
                await self.response.write(piece)
        except ConnectionError:
            self.gone = True
        except TimeoutError:
            self.gone = True
            if self.request.transport is not None:
                self.request.transport.abort()
            self.call.reason = "the client did not read the answer"
        self.stalled += time.monotonic() - began

    def count(self) -> None:
        """Complete the call with what is known at its end."""
        call, report = self.call, self.report
        call.answered = None if report.model is None else short(self.mask.text(report.model))
        if self.gone and call.outcome == "passed":
            call.reason = call.reason or "the client hung up"
        if self.mask.hits:
            call.reason = "the endpoint sent the key back; it was masked"
        tokens = report.tokens
        if tokens is not None and self.asked.spends:
            call.usage, call.tokens = "counted", tokens
        elif self.asked.spends and self.status is not None and self.status < 400:
            read = report.input_so_far
            wrote = report.pieces or call.received // 4
            call.usage, call.estimate = "unknown", Tokens(input=call.sent // 4 if read is None else read, output=wrote)
        elif self.asked.spends and call.outcome == "cut" and self.status is None and call.sent:
            call.usage, call.estimate = "unknown", Tokens(input=call.sent // 4)
        if (counted := call.tokens or call.estimate) is not None:
            cost = self.way.prices.cost((report.model, *self.asked.models), counted, report.tier)
            call.cost_usd, call.priced_by = (None, None) if cost is None else cost
        if self.way.transcripts is not None:
            whole = call.outcome == "passed" and len(self.kept) < RESPONSE
            body = self.asked.body
            self.way.transcripts.write(call.number, call.path, body, call.status, bytes(self.kept), not whole)


def _text(error: bytes, encoding: str) -> str:
    """The beginning of an error."""
    with contextlib.suppress(Unreadable):
        error = b"".join(decoder(encoding.strip().lower())(error))
    return error.decode("utf-8", "replace")


async def _pieces(first: bytes, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    if first:
        yield first
    async for piece in answer.content.iter_any():
        yield piece


def _pause(retry_after: str | None, before: int) -> float:
    """Seconds to wait before a retry, as the endpoint asks; otherwise 1, 2, 4 ..."""
    text = (retry_after or "").strip()
    wait = min(2.0**before, 60.0)
    try:
        wait = float(text)
    except ValueError:
        with contextlib.suppress(ValueError, TypeError):
            wait = parsedate_to_datetime(text).timestamp() - time.time()
    return min(max(wait, 0.001), LONGEST_WAIT) if wait == wait else 1.0
