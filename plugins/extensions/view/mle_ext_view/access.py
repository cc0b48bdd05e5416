"""Who may see the pages: whoever has the token, asking this machine by its own name, and only to read.

The token is the first part of every path. A cookie would also be sent to other servers on this machine, as cookies do
not tell ports apart.
"""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_HERE = ("127.0.0.1", "localhost", "::1")
"""With any port: `ssh -L` may use another one. A page elsewhere whose name was bound to 127.0.0.1 sends that name."""


class Guard:
    """An ASGI application in front of another one. That one sees paths without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(self._inner(scope) if refusal is None else scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        if _host(Headers(scope=scope).get("host", "")) not in _HERE:
            return PlainTextResponse("Open this page as http://127.0.0.1:PORT/TOKEN/.\n", 421)
        given = scope["path"].split("/", 2)
        if len(given) < 3 or not hmac.compare_digest(given[1].encode("utf-8", "replace"), self._token):
            return PlainTextResponse("Open the whole address that `mlecore view` printed, with its token.\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("These pages can only be read.\n", 405)
        return None

    def _inner(self, scope: Scope) -> Scope:
        length = len(self._token) + 1
        return {**scope, "path": scope["path"][length:], "raw_path": scope.get("raw_path", b"")[length:]}


def _host(given: str) -> str | None:
    try:
        return urlsplit(f"//{given}").hostname
    except ValueError:
        return None
