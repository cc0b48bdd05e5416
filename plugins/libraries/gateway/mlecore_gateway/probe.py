"""A tiny call to a model: does its endpoint answer, and if not, why?

Before a group starts, it finds a wrong key, an unknown model and a used-up quota. Next to a run, it tells a failing
endpoint from a request that no endpoint would answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

import aiohttp
import msgspec
from yarl import URL

from .calls import short
from .failures import failure_in, message_in
from .masking import Mask
from .places import API, OWN, api_of, other_bases, places, root_of
from .settings import Settings

Kind: TypeAlias = Literal[
    "answers",
    "busy",  # it asks to be called less often
    "unreachable",  # no connection, or none that lasts
    "silent",  # connected, but no answer in time
    "failing",  # server error
    "key",  # rejected, or without the right to use the model
    "quota",  # of the account, or its credit, used up
    "model",  # unknown
    "path",  # the endpoint has no such API
]

USER_AGENT = "mlecore-probe"
PROMPT = "Reply with OK."
_READ = 64 * 1024  # bytes of an answer
_ELSEWHERE = 10.0  # seconds for a call to a place where an API may be
_THERE: tuple[Kind, ...] = ("answers", "busy", "quota", "model")
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credits?)|credit balance|current quota|billing|out of credits|"
    r"(?:usage|spend(?:ing)?) limits?\b|quota (?:is |was |has been )?(?:exceeded|exhausted|used up)",
    re.IGNORECASE,
)
_RATE = re.compile(r"per[ _-]?(?:minute|second)|retryDelay|rate.limit", re.IGNORECASE)
_MODEL = re.compile(
    r"model_not_found|DeploymentNotFound|\bmodel:|(?:invalid|unknown|no such|unsupported)[ _]model|not a valid model|"
    r"\b(?:model|deployment)s?\b.{0,200}?(?:not exist|not found|unknown|not (?:a )?support|only support|not available|"
    r"decommission|deprecated|no longer|not have access|retired)|unable to access.{0,30}model",
    re.IGNORECASE | re.DOTALL,
)


_WORDS: Mapping[Kind, str] = {
    "answers": "the endpoint answers",
    "busy": "the endpoint is busy",
    "unreachable": "the endpoint cannot be reached",
    "silent": "the endpoint does not answer",
    "failing": "the endpoint fails",
    "key": "the endpoint rejects the key",
    "quota": "the account's quota is used up",
    "model": "the endpoint does not have the model",
    "path": "there is no API for models at this URL",
}


class Finding(NamedTuple):
    """What an endpoint made of a tiny call; ``text`` is its own message, or the error, and contains no key."""

    kind: Kind
    text: str = ""

    def __str__(self) -> str:
        return f"{_WORDS[self.kind]} ({self.text})"


async def probe(
    session: aiohttp.ClientSession,
    settings: Settings,
    model: str,
    seconds: float,
    target: str | None = None,
    *,
    doubtful: tuple[Kind, ...] = ("path", "model"),
) -> Finding:
    """Call the model once by the first API that the endpoint has, beginning with the one at the path ``target``.

    More calls follow only after findings that are ``doubtful``, as another API may work, and where a key is rejected in
    one header: these cost nothing.
    """
    findings: list[Finding] = []
    for place in dict.fromkeys([*([target] if target else []), *places(settings.base, model)]):
        if not place.startswith(settings.base.path + "/"):
            continue  # the gateway forwards no such call
        finding = await _call(session, settings, model, place, seconds)
        if finding.kind not in doubtful:
            return finding
        findings.append(finding)
    return min(findings, key=lambda finding: {"path": 2, "model": 1}.get(finding.kind, 0))  # the one that tells most


async def elsewhere(session: aiohttp.ClientSession, settings: Settings, model: str) -> tuple[str, str]:
    """Where no API is at the base URL: the URL to name instead, and what the API there is, if it is a known one.

    Both are empty if none is found.
    """
    base = settings.base
    origin = f"{base.scheme}://{base.netloc}"
    for path in other_bases(base.path):
        other = msgspec.structs.replace(settings, endpoint=origin + path)
        for place in (f"{path}/chat/completions", f"{root_of(path)}/v1/messages"):
            if (await _call(session, other, model, place, _ELSEWHERE)).kind in _THERE:
                return other.endpoint, ""
    for path, (name, instead) in OWN.items():
        for before in dict.fromkeys((base.path, "")):
            place = before + path.format(model=quote(model, safe=""))
            if (await _call(session, settings, model, place, _ELSEWHERE)).kind in _THERE:
                return instead.format(origin=origin), name
    return "", ""


async def _call(session: aiohttp.ClientSession, settings: Settings, model: str, place: str, seconds: float) -> Finding:
    path = place.partition("?")[0]
    api = api_of(path, settings.base.path) or "chat"
    azure = "/deployments/" in path or (settings.base.hostname or "").endswith(".azure.com")
    finding = Finding("key")
    for headers in _headers(settings.key, api, azure):
        finding = await _once(session, settings, place, _body(api, model), headers, seconds)
        if finding.kind != "key":
            break
    return finding


def _headers(key: str, api: API, azure: bool) -> Iterator[dict[str, str]]:
    """Each way to send the key that servers of an API know."""
    common = {"Content-Type": "application/json", "User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
    if api == "messages":
        common["anthropic-version"] = "2023-06-01"
    if not key:
        yield common
        return
    own = "x-api-key" if api == "messages" else "x-goog-api-key" if api == "gemini" else "api-key" if azure else None
    if own:
        yield {**common, own: key}
    yield {**common, "Authorization": f"Bearer {key}"}


def _body(api: API, model: str) -> dict[str, Any]:
    """With the smallest answer that providers allow."""
    messages = [{"role": "user", "content": PROMPT}]
    bodies: dict[API, dict[str, Any]] = {
        "chat": {"model": model, "messages": messages, "max_tokens": 1},
        "responses": {"model": model, "input": PROMPT, "max_output_tokens": 16, "store": False},
        "messages": {"model": model, "messages": messages, "max_tokens": 1},
        "completions": {"model": model, "prompt": PROMPT, "max_tokens": 1},
        "embeddings": {"model": model, "input": PROMPT},
        "gemini": {
            "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
            "generationConfig": {"maxOutputTokens": 1},
        },
    }
    return bodies[api]


async def _once(
    session: aiohttp.ClientSession,
    settings: Settings,
    place: str,
    body: dict[str, Any],
    headers: dict[str, str],
    seconds: float,
) -> Finding:
    base = settings.base
    mask = Mask(settings.key)
    try:
        async with session.post(
            URL(f"{base.scheme}://{base.netloc}{settings.with_query(place)}", encoded=True),
            data=msgspec.json.encode(body),
            headers=headers,
            proxy=settings.proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, 30.0)),
        ) as answer:
            return _finding(answer.status, await _read(answer.content), mask)
    except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectionError, aiohttp.ClientError) as error:
        if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            return Finding("silent", f"no answer within {seconds:g} s")
        return Finding("unreachable", short(mask.text(str(error) or type(error).__name__)))
    except TimeoutError:
        return Finding("silent", f"no answer within {seconds:g} s")
    except OSError as error:
        return Finding("unreachable", short(str(error)))


async def _read(content: aiohttp.StreamReader) -> str:
    """The beginning of an answer, without what some servers send before it; the data of the first event of a stream."""
    try:
        body = await content.readexactly(_READ)
    except asyncio.IncompleteReadError as error:
        body = error.partial
    text = body.decode("utf-8-sig", "replace").strip()
    if text.startswith(("{", "[")):
        return text
    data = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
    return next((line for line in data if line.startswith(("{", "["))), text)


def _finding(status: int, text: str, mask: Mask) -> Finding:
    said = message_in(text)
    words = f"status {status}" + (f": {said}" if said else "")
    if status < 300 and (failure := failure_in(text)):
        words = f"status {status}, but an error in the answer: {failure.message}"
        status = failure.status
    return Finding(kind_of(status, text), short(mask.text(words)))


def kind_of(status: int, text: str) -> Kind:
    """What an answer to a well-formed call means. Providers use statuses differently, so the text decides, too."""
    if status >= 500:
        return "failing"
    if status in (401, 403):
        return "key"
    if status == 402:
        return "quota"
    if status == 429:
        return "quota" if _QUOTA.search(text) and not _RATE.search(text) else "busy"
    if status in (400, 404, 422) and _QUOTA.search(text):
        return "quota"
    if status in (400, 404, 422) and _MODEL.search(text):
        return "model"
    if status in (404, 405) or 300 <= status < 400:
        return "path"
    if status < 300 and not text.lstrip().startswith(("{", "[")):
        return "path"  # a web page
    return "answers"  # also 400: a parameter that the model does not know, so key, model and quota are right
