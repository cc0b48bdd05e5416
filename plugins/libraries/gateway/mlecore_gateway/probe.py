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
from .settings import Settings

API = Literal["chat", "responses", "messages", "completions", "embeddings", "gemini"]
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
_AZURE_VERSION = "2024-10-21"
_PATHS = re.compile(
    r"(?:/openai)?(?:/v1|/v1beta)?/(?:deployments/[^/]+/)?(chat/completions|completions|responses|messages|embeddings)"
    r"|(?:/v1|/v1beta)?/models/[^/:]+:(generateContent|streamGenerateContent)"
)
_APIS: Mapping[str, API] = {
    "chat/completions": "chat",
    "generateContent": "gemini",
    "streamGenerateContent": "gemini",
    "completions": "completions",
    "responses": "responses",
    "messages": "messages",
    "embeddings": "embeddings",
}
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


def api_of(path: str, base: str = "") -> API | None:
    """The API that a path below ``base`` belongs to; None if no model answers there."""
    found = _PATHS.fullmatch(path.removeprefix(base)) if path.startswith(base) else None
    return _APIS[found[1] or found[2]] if found else None


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
    for place in dict.fromkeys([*([target] if target else []), *_places(settings, model)]):
        finding = await _call(session, settings, model, place, seconds)
        if finding.kind not in doubtful:
            return finding
        findings.append(finding)
    return min(findings, key=_rank)


def _rank(finding: Finding) -> int:
    """The finding that tells most comes first."""
    return {"path": 2, "model": 1}.get(finding.kind, 0)


def _places(settings: Settings, model: str) -> Iterator[str]:
    """Paths of a model's APIs, the likeliest first."""
    base = settings.base
    host, path = base.hostname or "", base.path
    root, name = path or "/v1", quote(model, safe="")
    if host.endswith(".azure.com") and "/v1" not in path:
        yield f"{path}/openai/deployments/{name}/chat/completions?api-version={_AZURE_VERSION}"
        return
    if host.endswith("googleapis.com") and not path.endswith("/openai"):
        yield f"{path or '/v1beta'}/models/{name}:generateContent"
    if host.endswith("anthropic.com"):
        yield f"{path.removesuffix('/v1')}/v1/messages"
    if "embed" in model.lower():
        yield f"{root}/embeddings"
        return
    for api in ("chat/completions", "responses", "messages", "completions"):
        yield f"{root}/{api}"


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
            URL(f"{base.scheme}://{base.netloc}{place}", encoded=True),
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
