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

from .admission import Admitted, admit
from .asking import Asked, read_request, spends_nothing
from .budgets import Budget
from .calls import Call, Tokens, short
from .exchange import Cut, Exchange
from .faults import Faults
from .ledger import Ledger, LedgerError
from .prices import Prices
from .refusals import Refusal
from .settings import Settings
from .slots import Slots, unlimited
from .transcripts import Transcripts

CONNECTIONS = 256
HEADER_LINE = 64 * 1024
BODY = 128 * 1024 * 1024  # bytes of one request
BODIES = 512 * 1024 * 1024  # of all that are held at once
BODY_SECONDS = 300.0  # for a request to be sent whole
CONNECT_SECONDS = 30.0
IDLE_SECONDS = 1800.0  # a model may take long before its first byte
PATIENT_REFUSALS = 20  # as 429; a client that still asks then gets 403, which none repeats


class Gateway:
    """Of one run."""

    def __init__(self, settings: Settings, folder: Path, session: aiohttp.ClientSession) -> None:
        self.settings = settings
        self.session = session
        self.ledger = Ledger(folder, settings.spent)
        self.transcripts = Transcripts(folder) if settings.transcripts else None
        self.prices = Prices(settings.endpoint, settings.prices)
        self.asks_usage = True
        self.faults = Faults(settings, session)
        self._budgets = [Budget.parse(text) for text in settings.budgets]
        self._over = 0  # refusals since a budget was used up
        self._held = 0  # bytes of requests
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
        """Of every request, whatever it is."""
        call = Call(
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            method=short(request.method),
            path=short(request.raw_path.partition("?")[0]),
        )
        began = time.monotonic()
        try:
            admitted = admit(self.settings, request)
            async with self._body(request) as body:
                return await self._serve(request, call, began, admitted, body)
        except Refusal as refusal:
            call.outcome, call.reason, call.status = "refused", short(refusal.reason), refusal.status
            call.seconds = round(time.monotonic() - began, 3)
            self.ledger.refuse(call)
            response = web.Response(status=refusal.status, body=refusal.body(), headers=refusal.headers())
            if refusal.status != 429:
                response.force_close()  # the rest of what it sent is not read
            return response

    @asynccontextmanager
    async def _body(self, request: web.BaseRequest) -> AsyncIterator[bytes]:
        """The whole body: its model must be known before anything is sent."""
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    async for piece in request.content.iter_any():
                        body += piece
                        self._held += len(piece)
                        if len(body) > BODY or self._held > BODIES:
                            raise Refusal(413, f"the request is larger than {BODY >> 20} MiB", final=len(body) > BODY)
            except TimeoutError:
                raise Refusal(408, f"the request was not whole after {BODY_SECONDS:g} s") from None
            except (aiohttp.ClientError, web.RequestPayloadError) as error:
                raise Refusal(400, f"the request's body is broken: {error}") from None
            yield bytes(body)
        finally:
            self._held -= len(body)

    async def _serve(
        self, request: web.BaseRequest, call: Call, began: float, admitted: Admitted, body: bytes
    ) -> web.StreamResponse:
        json = "json" in request.headers.get("Content-Type", "json").lower()
        asked = read_request(call.method, admitted.path, body, json)
        call.asked = short(", ".join(asked.models)) or None
        call.stream = asked.stream
        self._allow(call, asked)
        self._afford(asked)
        try:
            record = self.ledger.begin(call)
        except LedgerError as error:
            raise Refusal(503, str(error), "api_error", final=False) from None
        exchange = Exchange(self, request, call, asked, admitted)
        try:
            with self.faults.watching(call):
                return await exchange.run()
        except Cut as cut:
            call.outcome, call.reason = "cut", short(str(cut))
            if request.transport is not None:
                request.transport.abort()  # the agent must see that it is incomplete
            return exchange.response or web.Response(status=502)
        except asyncio.CancelledError:
            call.outcome, call.reason = "cut", "the gateway ended"
            raise
        finally:
            call.seconds = round(time.monotonic() - began, 3)
            exchange.count()
            self.ledger.end(record, call)

    def _allow(self, call: Call, asked: Asked) -> None:
        """Calls to a model that the plan did not name, or to none that can be known, are refused."""
        known = {name for model in self.settings.models for name in (model, model.partition("/")[2]) if name}
        strange = [model for model in asked.models if model not in known]
        call.unplanned = bool(strange) or (asked.spends and not asked.models)
        if self.settings.any_model:
            return
        if strange:
            names = ", ".join(self.settings.models) or "none"
            reason = f"the plan does not name the model {short(strange[0])} (it names {names})"
            raise Refusal(403, reason, "permission_error")
        if not asked.models and not spends_nothing(call.method, call.path):
            raise Refusal(403, "this call names no model, so it cannot be counted", "permission_error")
        if asked.background:
            raise Refusal(403, "work in the background cannot be counted; ask without it", "permission_error")

    def _afford(self, asked: Asked) -> None:
        """Raises Refusal if a budget is used up."""
        spent = self.ledger.spent
        calls = spent.calls + self.ledger.under_way
        for budget in self._budgets:
            if budget.spent(usd=spent.usd, tokens=spent.tokens, calls=calls):
                self._used_up(f"the run's budget of {budget.text} is used up; no further calls are passed on")
            if budget.unit == "usd" and asked.spends and self.prices.cost(asked.models, Tokens()) is None:
                name = short(", ".join(asked.models)) or "what is asked"
                raise Refusal(403, f"no price is known for {name}, so a budget of {budget.text} cannot be kept")
        if self.ledger.full:
            self._used_up("the gateway's log is full; no further calls are passed on")

    def _used_up(self, reason: str) -> None:
        self._over += 1
        raise Refusal(429 if self._over <= PATIENT_REFUSALS else 403, reason, "insufficient_quota")


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
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=IDLE_SECONDS),
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
