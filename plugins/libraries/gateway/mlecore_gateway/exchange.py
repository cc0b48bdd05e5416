"""One call in progress: pass it on, stream the answer back as it comes, and count what it used."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from email.utils import parsedate_to_datetime
from typing import Protocol

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from .admission import Admitted
from .asking import Asked, pieces, with_additions
from .calls import Call, Tokens, short
from .faults import Faults
from .ledger import Ledger, LedgerError, Spent
from .masking import Mask
from .memory import Memory
from .prices import Prices
from .reading import Body, Events, Report, Unreadable, decoder
from .refusals import Refusal
from .reservations import Reservations
from .routes import Protocol as Api
from .server_tools import is_tool, unlisted
from .settings import Settings
from .transcripts import RESPONSE, Transcripts

STALL_SECONDS = 60.0  # in total that a client may delay an answer: it holds a place that others wait for
LONGEST_WAIT = 600.0  # before a retry
ERROR = 4096  # bytes of an error that are read to judge it

_RETRIED = (429, 500, 502, 503, 504, 529)
_NOT_RETURNED = frozenset("connection proxy-connection keep-alive te trailer transfer-encoding upgrade".split())
_UNKNOWN = {"stream_options": b"stream_options", "include": b"ncrypted"}  # addition -> its sign in an error
_AT_ONCE = 1024 * 1024  # bytes of a request that are sent in one piece


class Cut(Exception):
    """The answer was cut; the message says why."""


class Way(Protocol):
    """What all calls of a run share."""

    settings: Settings
    session: aiohttp.ClientSession
    prices: Prices
    ledger: Ledger
    reservations: Reservations
    memory: Memory
    transcripts: Transcripts | None
    faults: Faults
    unknown: set[tuple[str, tuple[str, ...]]]  # (addition, models) that the endpoint has rejected

    def slot(self) -> AbstractAsyncContextManager[float]:
        """A place among the concurrent calls; yields the seconds that it was waited for."""


class Exchange:
    """One call. ``run`` answers the agent; ``end`` then writes the call's line."""

    def __init__(self, way: Way, request: web.BaseRequest, call: Call, asked: Asked, admitted: Admitted) -> None:
        base = way.settings.base
        self.way = way
        self.request = request
        self.call = call
        self.asked = asked
        self.origin = f"{base.scheme}://{base.netloc}"
        self.url = URL(self.origin + admitted.target, encoded=True)
        self.headers = admitted.headers
        if not isinstance(asked.body, bytes):
            self.headers["Content-Type"] = "application/json"  # as it was read: no other charset
        self.protocol: Api = admitted.route.protocol
        self.mask = Mask(way.settings.key)
        self.report = Report()
        self.most = self._most()
        self.started = False  # is it in the ledger, and passed on?
        self.response: web.StreamResponse | None = None
        self.status: int | None = None  # the endpoint's
        self.gone = False  # the client
        self.stalled = 0.0
        self.kept = bytearray()  # of the response, for the transcript

    def _most(self) -> Spent:
        """What it may cost, of every budget."""
        asked, prices = self.asked, self.way.prices
        usd = prices.highest(asked.models, asked.reserve)
        for tool in asked.server_tools:
            fee = prices.fee(asked.models, tool, asked.server_tool_uses)
            usd += fee[0] if fee else 0.0
        return Spent(usd=usd, tokens=asked.reserve.input + asked.reserve.output, calls=1)

    async def run(self) -> web.StreamResponse:
        """Raises Cut if the agent does not get the whole answer, Refusal or UsedUp if the call is not passed on."""
        await self._reserve()
        while self.response is None:
            if self.request.transport is None or self.request.transport.is_closing():
                self.gone = True
                raise Cut("the client hung up before its call was passed on")
            pause = 0.0
            async with self.way.slot() as waited:
                self.call.waited = round(self.call.waited + waited, 3)
                if fits := self.way.reservations.fits(self.most):  # others have ended since it was asked
                    self._record_start()
                    pause = await self._attempt()
            if not fits:  # outside the slot: another run may need it
                await self._reserve()
            if pause:
                self.call.retries += 1
                self.call.waited = round(self.call.waited + pause, 3)
                await asyncio.sleep(pause)
        return self.response

    async def _reserve(self) -> None:
        began = time.monotonic()
        self.way.reservations.release(self.most)
        await self.way.reservations.hold(self.most)
        self.call.waited = round(self.call.waited + time.monotonic() - began, 3)

    def _record_start(self) -> None:
        """A gateway that dies from now on has passed the call on, and counts what it may cost."""
        if self.started:
            return
        if self.asked.spends:
            self.call.usage, self.call.estimate, self.call.cost_usd = "unknown", self.asked.reserve, self.most.usd
        try:
            self.way.ledger.begin(self.call)
        except LedgerError as error:
            raise Refusal(503, str(error), "api_error", final=False) from None
        self.started = True

    async def _attempt(self) -> float:
        """Pass it on once. Where there is no response then: after how many seconds it is to be passed on again."""
        known = {n: v for n, v in self.asked.additions.items() if (n, self.asked.models) not in self.way.unknown}
        hide = "stream_options" in known
        if known:
            self.headers["Accept-Encoding"] = "identity"  # what is masked must be readable
        body = list(pieces(with_additions(self.asked.body, known)))
        self.call.sent = sum(map(len, body))
        if self.call.sent:
            self.headers["Content-Length"] = str(self.call.sent)
        sent = time.monotonic()
        try:
            async with self.way.session.request(
                self.call.method,
                self.url,
                data=_data(body, self.call.sent),
                headers=self.headers,
                proxy=self.way.settings.proxy,
                allow_redirects=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            ) as answer:
                self.status = answer.status
                if answer.status in _RETRIED and self.call.retries < self.way.settings.retries:
                    return _pause(answer.headers.get("Retry-After"), self.call.retries)
                first = b""
                if known and answer.status in (400, 422):
                    first = await answer.content.read(64 * 1024)
                    if rejected := [name for name in known if _UNKNOWN.get(name, b"\0") in first]:
                        self.way.unknown.update((name, self.asked.models) for name in rejected)
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
        """Without an answer to pass on, the agent gets one from the gateway."""
        self.call.outcome, self.call.reason, self.call.status = "failed", short(reason), 502
        refusal = Refusal(502, self.call.reason, "api_error", final=False)
        self.response = web.Response(status=502, body=refusal.body(self.call.path), headers=refusal.headers())

    async def _return(self, answer: aiohttp.ClientResponse, hide: bool, first: bytes, sent: float) -> None:
        encoding = answer.headers.get("Content-Encoding", "").strip().lower()
        events = "event-stream" in answer.headers.get("Content-Type", "").lower()
        hide = hide and events
        reader = Events(self.report, hide) if events else Body(self.report, self.way.memory)
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
            headers.add(self.mask.name(name), self.mask.text(value))
        reason = None if answer.reason is None else self.mask.text(answer.reason)
        self.response = web.StreamResponse(status=answer.status, reason=reason, headers=headers)
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

    def end(self) -> None:
        """Write the call's line, and let others have what it reserved."""
        self._count()
        if self.started:
            self.way.ledger.end(self.call)
        else:
            self.way.ledger.refuse(self.call)
        self.way.reservations.release(self.most)

    def _count(self) -> None:
        """Complete the call with what is known at its end."""
        call, report, asked = self.call, self.report, self.asked
        call.answered = None if report.model is None else short(self.mask.text(report.model))
        if self.gone and call.outcome == "passed":
            call.reason = call.reason or "the client hung up"
        if self.mask.hits:
            call.reason = "the endpoint sent the key back; it was masked"
        tokens, good = report.tokens, self.status is not None and self.status < 400
        call.usage, call.tokens, call.estimate, call.cost_usd = "none", None, None, None
        if not asked.spends or not self.started:
            pass
        elif tokens is not None:
            call.usage, call.tokens = "counted", tokens
        elif good and not asked.background:
            read = report.input_so_far
            wrote = report.pieces or call.received // 4
            call.usage, call.estimate = "unknown", Tokens(input=call.sent // 4 if read is None else read, output=wrote)
        elif good or (call.outcome == "cut" and self.status is None):  # it continues, as far as anybody knows
            call.usage, call.estimate = "unknown", asked.reserve
        if (counted := call.tokens or call.estimate) is not None:
            cost = self.way.prices.cost((report.model, *asked.models), counted, report.tier)
            call.cost_usd, call.priced_by = (None, None) if cost is None else cost
        if good and asked.server_tools:
            self._count_tools()

    def _count_tools(self) -> None:
        """How often the provider used its tools, and what that costs beside the tokens."""
        call, asked, uses = self.call, self.asked, self.report.uses
        models = (self.report.model, *asked.models)
        whole = self.report.tokens is not None
        for tool in asked.server_tools:
            silent = unlisted(self.protocol, tool) if whole else None
            call.server_tools[tool] = uses.get(tool, silent) if is_tool(tool) else 1
        fees = [
            (0.0, "") if n == 0 else None if n is None else self.way.prices.fee(models, tool, n)
            for tool, n in call.server_tools.items()
        ]
        known = [fee for fee in fees if fee is not None]
        call.fees_usd = sum(fee for fee, _ in known) if len(known) == len(fees) else None
        if call.cost_usd is not None:
            call.cost_usd = None if call.fees_usd is None else call.cost_usd + call.fees_usd

    def transcribe(self, transcripts: Transcripts) -> None:
        """Keep request and response. May run in a thread."""
        call, whole = self.call, self.call.outcome == "passed" and len(self.kept) < RESPONSE
        request = b"".join(pieces(self.asked.body))
        transcripts.write(call.number, call.path, request, call.status, bytes(self.kept), not whole)


def _data(body: Iterable[bytes | memoryview], size: int) -> bytes | AsyncIterator[bytes | memoryview] | None:
    """A large body goes out piece by piece, so that it is not copied as a whole."""
    if not size:
        return None
    return b"".join(body) if size <= _AT_ONCE else _one_by_one(body)


async def _one_by_one(body: Iterable[bytes | memoryview]) -> AsyncIterator[bytes | memoryview]:
    for piece in body:
        yield piece


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
