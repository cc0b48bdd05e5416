"""Where the APIs of models are below a base URL: what clients call there, and where else an API might be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import SplitResult, quote

API = Literal["chat", "responses", "messages", "completions", "embeddings", "gemini"]

_AZURE_VERSION = "2024-10-21"
_CALLS = "chat/completions|completions|responses|messages|embeddings"
_PATHS = re.compile(
    rf"(?:/openai)?(?:/v1|/v1beta)?/(?:deployments/[^/]+/)?({_CALLS})"
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
_OTHERS = ("/openai/v1", "/api/v1")  # usual places of an API


def api_of(path: str, base: str = "") -> API | None:
    """The API that a path below ``base`` belongs to; None if no model answers there."""
    found = _PATHS.fullmatch(path.removeprefix(base)) if path.startswith(base) else None
    return _APIS[found[1] or found[2]] if found else None


def root_of(path: str) -> str:
    """A base URL's path without the version, which the clients of Anthropic, Google and Azure add by themselves."""
    return path.removesuffix("/v1").removesuffix("/v1beta")


def places(base: SplitResult, model: str) -> Iterator[str]:
    """Paths that clients would call for a model, the likeliest first."""
    host, path = base.hostname or "", base.path
    name, root = quote(model, safe=""), root_of(path)
    azure = f"{root}/openai/deployments/{name}/chat/completions?api-version={_AZURE_VERSION}"
    if host.endswith(".azure.com") and path in ("", "/openai"):
        yield azure.replace("/openai/openai/", "/openai/")
        return
    if host.endswith("googleapis.com") and not path.endswith("/openai"):
        yield f"{path or '/v1beta'}/models/{name}:generateContent"
    if host.endswith("anthropic.com"):
        yield f"{root}/v1/messages"
    if "embed" in model.lower():
        yield f"{path or '/v1'}/embeddings"
        return
    for api in ("chat/completions", "responses"):
        yield f"{path or '/v1'}/{api}"
    yield f"{root}/v1/messages"
    yield f"{path or '/v1'}/completions"
    yield azure
    yield f"{root}/v1beta/models/{name}:generateContent"


def other_bases(path: str) -> list[str]:
    """Paths of base URLs that may have been meant by one where no API is: with a call, with ``/v1`` twice or never."""
    parts = re.sub(rf"/(?:{_CALLS}|models/[^/]+)$", "", path).split("/")
    parts = [part for part in parts if part]
    above = ["".join(f"/{part}" for part in parts[:end]) for end in range(len(parts), -1, -1)]
    found = [found for each in above for found in (each, f"{each}/v1")]
    return [each for each in dict.fromkeys([*found[:8], *_OTHERS]) if each not in ("", path)]


OWN = {  # paths of APIs that no client of a gateway speaks -> what they are, and the base URL that takes their place
    "/api/chat": ("Ollama's own API", "{origin}/v1"),
    "/model/{model}/converse": ("Bedrock's own API", "https://bedrock-runtime.REGION.amazonaws.com/openai/v1"),
}
