"""Checks that a request is the agent's and for this endpoint; replaces the token by the real key."""

from __future__ import annotations

import hmac
import re
from typing import NamedTuple
from urllib.parse import unquote

from aiohttp import web
from multidict import CIMultiDict

from .refusals import Refusal
from .settings import Settings

_METHODS = ("GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH")
_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_NOT_PASSED = frozenset(
    "connection proxy-connection keep-alive te trailer transfer-encoding upgrade http2-settings expect "
    "host content-length content-encoding accept-encoding forwarded via x-http-method-override".split()
).union(_KEY_HEADERS)
_STEPS = re.compile(r"(^|[/\\])\.\.?([/\\;?#]|$)")
_ODD = re.compile(r"[\x00-\x20\x7f\\#]")


class Admitted(NamedTuple):
    """What goes to the endpoint, without the body."""

    target: str  # path and query
    headers: CIMultiDict[str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


def admit(settings: Settings, request: web.BaseRequest) -> Admitted:
    """Raises Refusal."""
    if request.method not in _METHODS:
        raise Refusal(405, f"{request.method} is not a method that the gateway passes on")
    if not request.raw_path.startswith("/"):
        raise Refusal(400, "a request names a path, not another host")
    if "upgrade" in request.headers:
        raise Refusal(501, "the gateway passes no WebSockets; use HTTP")
    path, _, query = request.raw_path.partition("?")
    found = _token_in(settings.token, request, query)
    if not found:
        raise Refusal(401, "this is not the token of this run", "authentication_error")
    _check_path(settings.base.path, unquote(path))
    parts = [part for part in query.split("&") if part and not part.startswith("key=")]
    if "query" in found and settings.key:
        parts.append(f"key={settings.key}")
    return Admitted(path + ("?" + "&".join(parts) if parts else ""), _headers(settings.key, request, found))


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


def _check_path(base: str, path: str) -> None:
    if path != base and not path.startswith(base + "/"):
        raise Refusal(404, f"only what lies below {base}/ is passed on", "not_found_error")
    if _STEPS.search(unquote(path)) or _ODD.search(path):
        raise Refusal(400, "the path is not a plain one")


def _headers(key: str, request: web.BaseRequest, found: list[str]) -> CIMultiDict[str]:
    headers = CIMultiDict(
        (name, value)
        for name, value in request.headers.items()
        if name.lower() not in _NOT_PASSED and not name.lower().startswith(("proxy-", "x-forwarded-"))
    )
    for name in found if key else ():
        if name != "query":
            headers[name] = f"Bearer {key}" if name == "authorization" else key
    headers["Accept-Encoding"] = "gzip" if "gzip" in request.headers.get("Accept-Encoding", "") else "identity"
    return headers
