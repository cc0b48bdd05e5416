"""Checks that a request is the agent's and for this endpoint; replaces the token by the real key."""

from __future__ import annotations

import hmac
import re
from typing import NamedTuple
from urllib.parse import unquote

from aiohttp import web
from multidict import CIMultiDict

from .refusals import Refusal
from .routes import METHODS, Route, find_route
from .settings import Settings

_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
# What the clients of models send, and no others: an endpoint that is a gateway itself may take from a header where to
# send a call, with its key.
_PASSED = re.compile(
    r"accept|accept-language|content-type|user-agent|idempotency-key|x-title|http-referer|openai-beta|anthropic-.+"
    r"|x-stainless-.+|x-goog-api-client|x-goog-upload-.+|x-ms-client-request-id|x-client-request-id|x-request-id"
)


class Admitted(NamedTuple):
    """What goes to the endpoint, without the body."""

    target: str  # path and query
    route: Route
    headers: CIMultiDict[str]


def admit(settings: Settings, request: web.BaseRequest) -> Admitted:
    """Raises Refusal."""
    if request.method not in METHODS:
        raise Refusal(405, f"{request.method} is not a method that the gateway passes on")
    if not request.raw_path.startswith("/"):
        raise Refusal(400, "a request names a path, not another host")
    if any("websocket" in value.lower() for value in request.headers.getall("upgrade", ())):
        raise Refusal(501, "the gateway forwards no WebSockets; use HTTP")
    path, _, query = request.raw_path.partition("?")
    found = _token_in(settings.token, request, query)
    if not found:
        raise Refusal(401, "this is not the token of this run", "authentication_error")
    if ";" in query:
        raise Refusal(400, "the query has a semicolon, which some servers take for the end of a parameter")
    route = find_route(settings.base.path, settings.rules, request.method, path, query)
    parts = [part for part in query.split("&") if part and not part.startswith("key=")]
    if "query" in found and settings.key:
        parts.append(f"key={settings.key}")
    target = settings.with_query(path + ("?" + "&".join(parts) if parts else ""))
    return Admitted(target, route, _headers(settings.key, request, found))


def _token_in(token: str, request: web.BaseRequest, query: str) -> list[str]:
    """The places of the token; none, if one of them holds something else."""
    given: list[tuple[str, str]] = []
    for name in _KEY_HEADERS:
        for value in request.headers.getall(name, ()):
            kind, _, rest = value.partition(" ")
            given.append((name, rest.strip() if name == "authorization" and kind.lower() == "bearer" else value))
    given += [("query", unquote(part[4:])) for part in query.split("&") if part.startswith("key=")]
    right = [name for name, value in given if hmac.compare_digest(value.encode("utf-8", "replace"), token.encode())]
    return list(dict.fromkeys(right)) if len(right) == len(given) else []


def _headers(key: str, request: web.BaseRequest, found: list[str]) -> CIMultiDict[str]:
    headers = CIMultiDict((name, value) for name, value in request.headers.items() if _PASSED.fullmatch(name.lower()))
    for name in found if key else ():
        if name != "query":
            headers[name] = f"Bearer {key}" if name == "authorization" else key
    headers["Accept-Encoding"] = "gzip" if "gzip" in request.headers.get("Accept-Encoding", "") else "identity"
    return headers
