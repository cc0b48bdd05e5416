"""One call in progress: pass it on, read the answer as it comes back, and count what it used."""

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
from yarl import URL

from .admission import Admitted
from .asking import Asked, pieces, with_additions
from .calls import Call, Tokens, short
from .failures import Failure
from .faults import Faults
from .ledger import Ledger, LedgerError, Spent
from .masking import Mask
from .memory import Memory
from .prices import Prices
from .probe import Finding
from .reading import Incoming, Report, Unreadable, decoder
from .refusals import Refusal
from .reply import Reply
from .reservations import Reservations
from .routes import Protocol as Api
from .server_tools import is_tool, unlisted
from .settings import Settings
from .transcripts import RESPONSE, Transcripts
from .usage import fits_request, fits_response

LONGEST_WAIT = 600.0  # before a retry
KEPT_SECONDS = 1800.0  # that an endpoint may keep a call alive, with comments or blanks, without a piece of an answer
ERROR = 4096  # bytes of an error that are read to judge it

_RETRIED = (429, 500, 502, 503, 504, 529)
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
        self.reply = Reply(request, self.mask, self.origin)
        self.status: int | None = None  # the endpoint's
        self.kept = bytearray()  # of the response, for the transcript
        self.heard_at = 0.0  # when the request was sent, or the last piece of an answer came

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
        while self.reply.response is None:
            if self.reply.is_unwanted():
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
        return self.reply.response

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
        self.report = Report()
        self.kept.clear()
        self.reply.hold()
        self.call.received, self.call.first_byte = 0, None
        body = list(pieces(with_additions(self.asked.body, known)))
        self.call.sent = sum(map(len, body))
        if self.call.sent:
            self.headers["Content-Length"] = str(self.call.sent)
        self.heard_at = time.monotonic()
        try:
            async with (
                asyncio.timeout(KEPT_SECONDS) as limit,
                self.way.session.request(
                    self.call.method,
                    self.url,
                    data=_data(body, self.call.sent),
                    headers=self.headers,
                    proxy=self.way.settings.proxy,
                    allow_redirects=False,
                    skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                ) as answer,
            ):
                self.status = answer.status
                if self._retries(answer.status):
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
                return await self._return(answer, hide, first, limit)
        except (aiohttp.ClientError, OSError) as error:
            return await self._broke_off(error)

    def _retries(self, status: int) -> bool:
        return status in _RETRIED and self.call.retries < self.way.settings.retries

    async def _broke_off(self, error: Exception) -> float:
        """No answer, or not the whole of it. Where it is to be asked for again: after how many seconds."""
        silent = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
        if self.reply.response is None and self._retries(504):
            return _pause(None, self.call.retries)
        if silent:
            what = f"no answer within {time.monotonic() - self.heard_at:.0f} s"
            self.call.fault = str(Finding("silent", what))
        else:
            what = self.mask.text(str(error) or type(error).__name__)
            await self.way.faults.judge(self.call, None)
        if self.reply.response is not None or self.call.received:
            what = f"the endpoint's answer broke off: {what}"
        else:
            what = f"the model's endpoint {'does not answer' if silent else 'cannot be reached'}: {what}"
        if self.reply.response is not None:
            raise Cut(what) from None
        self._fail(504 if silent else 502, what)
        return 0.0

    def _fail(self, status: int, reason: str, retry_after: str | None = None) -> None:
        """Without an answer to pass on, the agent gets one from the gateway."""
        self.call.outcome, self.call.reason, self.call.status = "failed", short(reason), status
        refusal = Refusal(status, reason[:ERROR], "api_error", final=False)
        headers = {**refusal.headers(), **({"Retry-After": retry_after} if retry_after else {})}
        self.reply.response = web.Response(status=status, body=refusal.body(self.call.path), headers=headers)

    async def _return(self, answer: aiohttp.ClientResponse, hide: bool, first: bytes, limit: asyncio.Timeout) -> float:
        """Pass on what comes, or, where it is an error with a good status, the error.

        Where that is to be asked for again: after how many seconds.
        """
        encoding = answer.headers.get("Content-Encoding", "").strip().lower()
        good = answer.status < 400
        hide = hide and good
        events = self.asked.stream or "event-stream" in answer.headers.get("Content-Type", "").lower()
        reader = Incoming(self.report, self.way.memory, events=events, hide=hide)
        try:
            decode = decoder(encoding)
        except Unreadable as error:
            self._fail(502, str(error))
            return 0.0
        as_it_came = encoding not in ("", "identity") and not hide
        if not good or self.protocol in ("models", "other"):
            await self.reply.begin(answer, keep_length=not hide)
        try:
            async for piece in _pieces(first, answer):
                self.call.received += len(piece)
                shown = b"".join(self.mask.feed(reader.feed(part)) for part in decode(piece))
                self._keep(shown)
                if as_it_came and self.mask.hits:
                    raise Cut("the endpoint sent the key back, compressed")
                if reader.progress():
                    self._heard(limit)
                await self.reply.write(piece if as_it_came else shown)
                if self.reply.response is None and (reader.begun or self.reply.held_enough):
                    if self.report.failure is not None:
                        break
                    await self.reply.begin(answer, keep_length=not hide)
        except Unreadable as error:
            raise Cut(str(error)) from None
        finally:
            last = self.mask.feed(reader.rest()) + self.mask.rest()
            self._keep(last)
            await self.reply.write(b"" if as_it_came else last)
        if self.reply.response is None:
            nothing = None if reader.heard else Failure(502, "nothing")
            failure = nothing or (None if self.report.text else self.report.failure)
            if failure is not None:
                return await self._failed(failure, answer)
            await self.reply.begin(answer, keep_length=not hide)
        self.call.outcome, self.call.status = "passed", answer.status
        if good and (failure := self.report.failure) is not None:
            self.call.outcome = "failed"
            self.call.reason = short(self.mask.text(f"the endpoint's answer ended in an error: {failure.message}"))
            await self.way.faults.judge(self.call, failure.status, failure.message)
        elif good:
            self.way.faults.answered(self.call)
        await self.reply.end()
        return 0.0

    def _heard(self, limit: asyncio.Timeout) -> None:
        """A piece of the answer came, more than what only keeps a connection alive."""
        now = time.monotonic()
        if self.call.first_byte is None:
            self.call.first_byte = round(now - self.heard_at, 4)
        self.heard_at = now
        limit.reschedule(asyncio.get_running_loop().time() + KEPT_SECONDS)

    async def _failed(self, failure: Failure, answer: aiohttp.ClientResponse) -> float:
        """An error with a good status: the agent gets it with the status that it means."""
        self.status = failure.status
        retry_after = answer.headers.get("Retry-After")
        if self._retries(failure.status):
            return _pause(retry_after, self.call.retries)
        await self.way.faults.judge(self.call, failure.status, failure.message)
        what = f"the endpoint's answer with status {answer.status} is an error: {failure.message}"
        self._fail(failure.status, self.mask.text(what), retry_after)
        return 0.0

    def _keep(self, piece: bytes) -> None:
        if self.way.transcripts is not None:
            self.kept += piece[: max(0, RESPONSE - len(self.kept))]

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
        if self.reply.gone and call.outcome == "passed":
            call.reason = self.reply.gone
        if self.mask.hits:
            call.reason = "the endpoint sent the key back; it was masked"
        tokens, good = self._tokens(), self.status is not None and self.status < 400
        call.usage, call.tokens, call.estimate, call.cost_usd = "none", None, None, None
        if not asked.spends or not self.started:
            pass
        elif tokens is not None:
            call.usage, call.tokens = "counted", tokens
        elif good and not asked.background:
            read = self._input()
            wrote = max(report.pieces, report.text // 4) if report.pieces else report.size // 4
            call.usage, call.estimate = "unknown", Tokens(input=call.sent // 4 if read is None else read, output=wrote)
        elif good or (call.outcome == "cut" and self.status is None):  # it continues, as far as anybody knows
            call.usage, call.estimate = "unknown", asked.reserve
        if (counted := call.tokens or call.estimate) is not None:
            cost = self.way.prices.cost((report.model, *asked.models), counted, report.tier)
            call.cost_usd, call.priced_by = (None, None) if cost is None else cost
        if good and asked.server_tools:
            self._count_tools()

    def _input(self) -> int | None:
        """Tokens of the prompt, as the response reports them so far; None if it does not, or if they cannot be true."""
        asked, read = self.asked, self.report.input_so_far
        media = asked.media or bool(asked.server_tools)  # which add what they find
        true = read is not None and fits_request(read, words=asked.words, sent=self.call.sent, media=media)
        return read if true else None

    def _tokens(self) -> Tokens | None:
        """As the response reports them at its end; None if it does not, or if they cannot be true."""
        report, tokens = self.report, self.report.tokens
        text = 0 if self.protocol == "completions" else report.text  # which may repeat the prompt
        most = self.asked.reserve.output
        true = tokens is not None and fits_response(tokens.output, text=text, received=report.size, most=most)
        return tokens if true and self._input() is not None else None

    def _count_tools(self) -> None:
        """How often the provider used its tools, and what that costs beside the tokens."""
        call, asked, uses = self.call, self.asked, self.report.uses
        models = (self.report.model, *asked.models)
        whole = call.tokens is not None
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
