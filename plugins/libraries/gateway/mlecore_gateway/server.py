"""The gateway's server: checks every request and its budget, passes it on, and logs it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from aiohttp import web

from . import server_tools
from .admission import Admitted, admit
from .asking import Asked, read_request
from .budgets import Budget
from .calls import Call, Tokens, short
from .exchange import Cut, Exchange
from .faults import Faults
from .ledger import Ledger
from .memory import Memory
from .prices import Prices
from .refusals import Refusal
from .reservations import Reservations, UsedUp
from .settings import Settings
from .slots import Slots, unlimited
from .transcripts import Transcripts

CONNECTIONS = 256
HEADER_LINE = 64 * 1024
BODY = 32 * 1024 * 1024  # bytes of one request
BODIES = 128 * 1024 * 1024  # of all requests, and of answers that are read when they are whole
BODY_SECONDS = 300.0  # for a request to be sent whole
LARGE = 256 * 1024  # bytes of a request that is read beside the loop
CONNECT_SECONDS = 30.0
SILENT_SECONDS = 600.0  # that an endpoint may send nothing, before the first byte or between two
PATIENT_REFUSALS = 20  # as 429; a client that still asks then gets 403, which none repeats


class Gateway:
    """The model gateway of one run."""

    def __init__(self, settings: Settings, folder: Path, session: aiohttp.ClientSession) -> None:
        self.settings = settings
        self.session = session
        self.ledger = Ledger(folder, settings.spent)
        self.transcripts = Transcripts(folder, key=settings.key) if settings.transcripts else None
        self.prices = Prices(settings.endpoint, settings.prices, settings.fees)
        self.unknown: set[tuple[str, tuple[str, ...]]] = set()
        self.memory = Memory(BODIES)
        self.faults = Faults(settings, session)
        self._budgets = [Budget.parse(text) for text in settings.budgets]
        self.reservations = Reservations(self._budgets, self.ledger.spent)
        self._reading = asyncio.Lock()  # one thread at a time: they would keep each other and the loop from working
        self._over = 0  # refusals since a budget was used up
        self._slots: Slots | None = None
        if settings.max_calls is not None and settings.slots is not None:
            self._slots = Slots(Path(settings.slots), settings.endpoint, settings.max_calls)

    def close(self) -> None:
        self.ledger.close()
        if self.transcripts is not None:
            self.transcripts.close()

    def slot(self) -> AbstractAsyncContextManager[float]:
        return self._slots.one() if self._slots is not None else unlimited()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, whatever it is."""
        call = Call(
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            method=short(request.method),
            path=short(request.raw_path.partition("?")[0]),
        )
        start = time.monotonic()
        try:
            admitted = admit(self.settings, request)
            async with self._body(request) as body:
                return await self._serve(request, call, start, admitted, body)
        except Refusal as refusal:
            call.outcome, call.reason, call.status = "refused", short(refusal.reason), refusal.status
            call.seconds = round(time.monotonic() - start, 3)
            self.ledger.refuse(call)
            return _answer(refusal, call.path)

    @asynccontextmanager
    async def _body(self, request: web.BaseRequest) -> AsyncIterator[bytearray]:
        """The whole body: its model must be known before anything is sent."""
        length = None if "Content-Encoding" in request.headers else request.content_length
        room = BODY if length is None and request.body_exists else length or 0
        if room > BODY:
            raise _too_large()
        body = bytearray()
        taken = 0
        try:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    await self.memory.take(room)
                    taken = room
                    _expect(request)
                    async for piece in request.content.iter_any():
                        body += piece
                        if len(body) > BODY:
                            raise _too_large()
            except TimeoutError:
                raise Refusal(408, f"the request was not whole after {BODY_SECONDS:g} s") from None
            except (aiohttp.ClientError, web.RequestPayloadError) as error:
                raise Refusal(400, f"the request's body is broken: {error}") from None
            self.memory.give_back(taken - len(body))
            taken = len(body)
            yield body
        finally:
            self.memory.give_back(taken)

    async def _serve(
        self, request: web.BaseRequest, call: Call, start: float, admitted: Admitted, body: bytearray
    ) -> web.StreamResponse:
        json = "json" in request.headers.get("Content-Type", "json").lower()
        reading = (admitted.route, call.method, body, json, self.settings.server_tools)
        if len(body) > LARGE:
            async with self._reading:
                asked = await asyncio.to_thread(read_request, *reading)
        else:
            asked = read_request(*reading)
        call.asked = short(", ".join(asked.models)) or None
        call.stream = asked.stream
        self._allow(call, asked, admitted)
        self._afford(asked)
        exchange = Exchange(self, request, call, asked, admitted)
        try:
            with self.faults.watching(call):
                return await self._run(exchange)
        except Cut as cut:
            call.outcome, call.reason = "cut" if exchange.started else "refused", short(str(cut))
            if request.transport is not None:
                request.transport.abort()  # the agent must see that it is incomplete
            return exchange.reply.response or web.Response(status=502)
        except asyncio.CancelledError:
            call.outcome, call.reason = "cut" if exchange.started else "refused", "the gateway ended"
            raise
        finally:
            call.seconds = round(time.monotonic() - start, 3)
            await self._transcribe(exchange, len(body))
            exchange.end()

    async def _transcribe(self, exchange: Exchange, size: int) -> None:
        """Keep request and response, if the plan asks for it; large ones take a while."""
        if self.transcripts is not None and exchange.started:
            if size > LARGE:
                await asyncio.to_thread(exchange.transcribe, self.transcripts)
            else:
                exchange.transcribe(self.transcripts)

    async def _run(self, exchange: Exchange) -> web.StreamResponse:
        """Its answer; the gateway's own where a budget has been used up by the time that its turn comes."""
        call = exchange.call
        try:
            return await exchange.run()
        except UsedUp as used_up:
            refusal = self._used_up(f"the run's budget of {used_up} is used up; no further calls are forwarded")
        except Refusal as other:
            refusal = other
        call.outcome = "refused" if not exchange.started else "failed"
        call.reason, call.status = short(refusal.reason), refusal.status
        return _answer(refusal, call.path)

    def _allow(self, call: Call, asked: Asked, admitted: Admitted) -> None:
        """Rejects tools of the provider, and calls to a model that the plan does not name or that cannot be known."""
        known = {name for model in self.settings.models for name in (model, model.partition("/")[2]) if name}
        strange = [model for model in asked.models if model not in known]
        call.unplanned = bool(strange) or (asked.spends and not asked.models)
        if asked.server_tools and not self.settings.server_tools:
            raise Refusal(400, server_tools.words(asked.server_tools))
        if self.settings.any_model:
            return
        if strange:
            names = ", ".join(self.settings.models) or "none"
            reason = f"the plan does not name the model {short(strange[0])} (it names {names})"
            raise Refusal(403, reason, "permission_error")
        if not asked.models and admitted.route.protocol != "models" and not admitted.route.by_rule:
            raise Refusal(403, "this call names no model, so it cannot be counted", "permission_error")

    def _afford(self, asked: Asked) -> None:
        """Raises Refusal where the gateway could not tell what has been spent."""
        prices = {model: self.prices.cost((model,), Tokens()) for model in asked.models} or {"what is asked": None}
        prices |= {tool: self.prices.fee(asked.models, tool, 1) for tool in asked.server_tools}
        unknown = next((name for name, price in prices.items() if price is None), None)
        for budget in self._budgets:
            if budget.unit == "usd" and asked.spends and unknown is not None:
                reason = f"no price is known for {short(unknown)}, so a budget of {budget.text} cannot be kept"
                raise Refusal(403, reason)
            if budget.unit == "usd" and asked.dearer is not None:
                reason = (
                    f"{short(asked.dearer)} costs more than the listed prices; a budget of {budget.text} excludes it"
                )
                raise Refusal(403, reason)
        if self.ledger.full:
            raise self._used_up("the gateway's log is full; no further calls are forwarded")

    def _used_up(self, reason: str) -> Refusal:
        self._over += 1
        return Refusal(429 if self._over <= PATIENT_REFUSALS else 403, reason, "insufficient_quota")


def _too_large() -> Refusal:
    return Refusal(413, f"the request is larger than {BODY >> 20} MiB", "request_too_large")


def _expect(request: web.BaseRequest) -> None:
    """Have a client send its body that asks first, as curl does with a large one."""
    if (expected := request.headers.get("Expect")) is None:
        return
    if expected.lower() != "100-continue":
        raise Refusal(417, f"the gateway does not know what {expected[:40]!r} expects")
    if request.transport is not None and request.version >= (1, 1):
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def _answer(refusal: Refusal, path: str) -> web.Response:
    response = web.Response(status=refusal.status, body=refusal.body(path), headers=refusal.headers())
    if refusal.status != 429:
        response.force_close()  # the rest of what it sent is not read
    return response


class Server(web.Server):
    """At most so many connections. One more takes the place of the oldest that asks for nothing, else it is closed."""

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        if len(self._connections) >= CONNECTIONS and not self._make_room():
            transport.write(b"HTTP/1.1 503 Too many connections\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            transport.close()
        super().connection_made(handler, transport)

    def _make_room(self) -> bool:
        for handler in self._connections:
            if handler._current_request is None:
                handler.force_close()
                del self._connections[handler]
                return True
        return False


def open_session(settings: Settings) -> aiohttp.ClientSession:
    """The connection to the endpoint."""
    trusted = ssl.create_default_context()
    if settings.ca:
        trusted.load_verify_locations(cadata=settings.ca)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=trusted, keepalive_timeout=4.0),  # servers close after 5 s or more
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS),
        max_line_size=HEADER_LINE,
        max_field_size=HEADER_LINE,
    )


@asynccontextmanager
async def serving(settings: Settings, folder: Path, listen: str) -> AsyncIterator[str]:
    """Serve on ``host:port`` or ``unix:PATH``; the address that it listens on."""
    async with open_session(settings) as session:
        gateway = Gateway(settings, folder, session)
        server = Server(
            gateway.handle, access_log=None, max_line_size=HEADER_LINE, max_field_size=HEADER_LINE, lingering_time=1.0
        )
        runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await runner.setup()
        site: web.BaseSite
        if listen.startswith("unix:"):
            path = Path(listen.removeprefix("unix:"))
            if path.is_socket():  # left by a gateway that was killed
                path.unlink()
            site = web.UnixSite(runner, str(path), backlog=1024)
        else:
            host, port = listen.rsplit(":", 1)
            site = web.TCPSite(runner, host.strip("[]"), int(port), backlog=1024)
        try:
            await site.start()
            at = runner.addresses[0]
            yield at if isinstance(at, str) else f"{at[0]}:{at[1]}"
        finally:
            await runner.cleanup()
            gateway.close()
