"""What a request has the provider do past the sandbox: run tools, fetch from the web, keep conversations.

Searching the web, running code or fetching a URL at the provider is the open web by another door, and a stored
conversation is a memory that runs share. Only tools that the client runs are known to be harmless, so they are listed,
and every other type counts as the provider's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from .refusals import Refusal
from .routes import Protocol

_CLIENT_TOOLS: Mapping[Protocol, re.Pattern[str]] = {
    "chat": re.compile(r"function|custom"),
    "responses": re.compile(r"function|custom|local_shell|apply_patch"),
    "messages": re.compile(r"custom|(?:bash|text_editor|computer|computer_toolset|memory)_\d{8}"),
}
_GEMINI_CLIENT_TOOLS = ("functionDeclarations", "function_declarations")
_VERSION = re.compile(r"(?:_preview)?(?:_\d{8}|_\d{4}_\d\d_\d\d)?$")

# Field of a request -> what it has the provider do. A field that is false, null or empty asks for nothing.
_FIELDS: Mapping[str, str] = {
    "web_search_options": "web_search",  # Chat Completions
    "search_parameters": "web_search",  # xAI
    "enable_search": "web_search",  # Alibaba
    "enable_web_search": "web_search",
    "web_search": "web_search",  # Baidu
    "venice_parameters": "web_search",
    "connectors": "connectors",  # Cohere
    "plugins": "plugins",  # OpenRouter
    "preset": "preset",  # OpenRouter
    "compound_custom": "web_search",  # Groq
    "data_sources": "data_sources",  # Azure
    "mcp_servers": "mcp",  # Messages
    "container": "container",
    "thread": "stored conversation",
    "background": "background",  # Responses
    "previous_response_id": "stored response",
    "conversation": "stored conversation",
    "prompt": "stored prompt",
    "store": "stored response",
    "cachedContent": "cached content",  # Gemini
    "cached_content": "cached content",
    "api_base": "another endpoint",  # LiteLLM, and other endpoints that are gateways themselves
    "base_url": "another endpoint",
    "extra_body": "fields for another endpoint",
    "extra_headers": "headers for another endpoint",
}
# Models that search by themselves: OpenAI's, Perplexity's, Groq's, OpenRouter's.
_SEARCHING = re.compile(
    r".*-search-(?:preview|api)(?:-.*)?|.*deep-research.*|(?:.*/)?(?:sonar|compound)(?:-.*)?|.*:online", re.DOTALL
)
_CONVERSATIONS = ("messages", "input", "contents", "system", "instructions")
# Without any of these, a message refers to nothing that lies elsewhere, and need not be read whole.
_SIGNS = (
    *(b'url"', b":/", b":\\/", b"\\u", b'"file', b'"item_reference"', b'"container_upload"', b'"tools"'),
    *(b'"definition"', b'"audio"'),
)
_PART, _OVERLAP = 512 * 1024, 32  # bytes
_SHORT = 200  # bytes of a message that may be no more than the id of a stored one
_URLS = ("image_url", "video_url", "audio_url", "file_url", "document_url", "fileUri", "file_uri")
_MEDIA = ("image", "video", "audio", "document", "file")  # hold a URL at some providers
_OPAQUE = ("input", "args", "response", "arguments")  # of a call of a tool: the model's or the client's own words
_STORAGE = (  # and all that is stored
    *("background", "container", "cached content", "URL fetched by the provider", "another endpoint"),
    *("fields for another endpoint", "headers for another endpoint"),
)
_LISTED: Mapping[Protocol, re.Pattern[str]] = {  # tools whose every use is in the answer
    "responses": re.compile("web_search|file_search|code_interpreter|image_generation|mcp"),
    "messages": re.compile(".*"),
    "gemini": re.compile("google_search"),
}
FIELDS = (*_FIELDS, "tools")
"""Fields that are read here; an endpoint must not find them under another spelling."""


def requested(protocol: Protocol, fields: Mapping[str, msgspec.Raw]) -> tuple[str, ...]:
    """The names of what the provider is to do, without versions; each once. Raises Refusal for what cannot be read."""
    try:
        found = dict.fromkeys(_in_fields(protocol, fields))
        found |= dict.fromkeys(_in_tools(protocol, _value(fields.get("tools"))))
        for name in _CONVERSATIONS:
            if name in fields and (name != "input" or protocol == "responses"):
                found |= dict.fromkeys(_in_conversation(protocol, fields[name]))
    except RecursionError:
        raise Refusal(400, "the request is nested too deeply") from None
    return tuple(found)


def words(names: tuple[str, ...]) -> str:
    """Why a request is rejected."""
    return (
        f"this run has no access to tools and storage of the model's provider: {', '.join(names)}. "
        "Send the request without it (mlecore run -G server-tools=true would allow it)"
    )


def is_tool(name: str) -> bool:
    """Is it a tool, and not storage or another way to what lies outside the request? Those have no fee."""
    return name not in _STORAGE and not name.startswith("stored ")


def unlisted(protocol: Protocol, tool: str) -> int | None:
    """How often the provider used a tool that its whole answer does not mention; None: nobody knows."""
    if protocol == "chat" and tool == "web_search":
        return 1  # OpenAI's models for it search in every call
    listed = _LISTED.get(protocol)
    return 0 if listed and listed.fullmatch(tool) else None


def plain(tool: str) -> str:
    """A type of a tool without its version: web_search_20250305 -> web_search."""
    return _VERSION.sub("", tool)[:60]


def _value(raw: msgspec.Raw | None) -> Any:
    return None if raw is None else json.loads(bytes(raw), object_pairs_hook=_without_twins)


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Raises Refusal for a repeated name: an endpoint could take the value that is not looked at here."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Refusal(400, "a field is repeated")
    return fields


def _in_fields(protocol: Protocol, fields: Mapping[str, msgspec.Raw]) -> Iterator[str]:
    for field, name in _FIELDS.items():
        if field not in fields or (field == "prompt" and protocol != "responses"):
            continue
        value = _value(fields[field])
        if value or (value == {} and field == "web_search_options"):  # an empty table asks with the defaults
            if field == "search_parameters" and isinstance(value, dict) and value.get("mode") == "off":
                continue
            yield name
    for field in ("model", "models", "fallbacks"):
        value = _value(fields.get(field))
        for item in value if isinstance(value, list) else [value]:
            model = item.get("model") if isinstance(item, dict) else item
            if isinstance(model, str) and _SEARCHING.fullmatch(model):
                yield "web_search"
            elif isinstance(model, str) and "@preset/" in model:  # OpenRouter's
                yield "preset"


def _in_tools(protocol: Protocol, tools: object) -> Iterator[str]:
    if not tools:
        return
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise Refusal(400, "tools is not a list of tools")
    for tool in tools:
        if protocol == "gemini":
            yield from (
                _snake(name) for name, value in tool.items() if name not in _GEMINI_CLIENT_TOOLS and value != []
            )
        else:
            yield from _in_tool(protocol, tool)


def _in_tool(protocol: Protocol, tool: Mapping[str, Any]) -> Iterator[str]:
    kind = tool.get("type")
    if kind is None and protocol == "messages":
        return
    if not isinstance(kind, str):
        raise Refusal(400, "a tool has no type")
    client = _CLIENT_TOOLS.get(protocol, _CLIENT_TOOLS["chat"])
    if client.fullmatch(kind):
        return
    if protocol == "responses":
        environment = tool.get("environment")
        if kind == "shell" and isinstance(environment, dict) and environment.get("type") == "local":
            return
        if kind == "tool_search" and tool.get("execution") == "client":
            return
        if kind == "namespace":
            yield from _in_tools(protocol, tool.get("tools"))
            return
    yield plain(kind)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()[:60]


def _in_conversation(protocol: Protocol, raw: msgspec.Raw) -> Iterator[str]:
    """References to what lies elsewhere. Messages are read one by one: a conversation may have 32 MB."""
    try:
        messages = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except msgspec.ValidationError:  # text
        messages = [raw]
    for message in messages:
        view = memoryview(message)
        if len(view) < _SHORT or _has_sign(view):
            yield from _references(protocol, _value(message))


def _has_sign(text: memoryview) -> bool:
    """In parts, between which other threads can run."""
    parts = (bytes(text[max(0, at - _OVERLAP) : at + _PART]) for at in range(0, len(text), _PART))
    return any(sign in part for part in parts for sign in _SIGNS)


def _references(protocol: Protocol, message: object) -> Iterator[str]:
    if protocol == "responses" and isinstance(message, dict) and "id" in message and set(message) <= {"id", "type"}:
        yield "stored response"
    left = [message]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
            continue
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        if kind == "item_reference":
            yield "stored response"
        elif kind == "container_upload":
            yield "container"
        elif kind == "url" and isinstance(value.get("url"), str):
            yield "URL fetched by the provider"
        for key, inner in value.items():
            if key in _URLS:
                url = inner.get("url") if isinstance(inner, dict) else inner
                if isinstance(url, str) and not url.startswith("data:"):
                    yield "URL fetched by the provider"
            elif key in ("file_id", "file_ids") and inner:
                yield "stored file"
            elif key == "audio" and isinstance(inner, dict) and "id" in inner:  # of an earlier answer
                yield "stored response"
            elif key in (*_MEDIA, "file_data") and any(
                isinstance(text, str) and "://" in text[:20] for text in (inner if isinstance(inner, list) else [inner])
            ):
                yield "URL fetched by the provider"
            elif key == "tools":
                yield from _in_tools(protocol, inner if isinstance(inner, list) else None)
            elif key == "definition" and isinstance(inner, dict):
                yield from _in_tool(protocol, inner)
            if key not in _OPAQUE or not _is_call(value):
                left.append(inner)


def _is_call(value: Mapping[str, Any]) -> bool:
    """A call of a tool or its result, whose contents are nobody's instructions to the provider."""
    kind = value.get("type")
    return kind == "tool_use" or ("name" in value and ("args" in value or "response" in value or "arguments" in value))
