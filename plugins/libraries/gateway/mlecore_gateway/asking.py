"""What a request asks for: the models that it names, what it may cost, and what the provider is to do past the sandbox.

A JSON body is sent on as it was read here, field by field, so that no server gets a repeated field, which it might read
differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from . import server_tools
from .calls import Tokens
from .refusals import Refusal
from .routes import READS, Route
from .usage import has_media

LONGEST_ANSWER = 128 * 1024  # tokens; more than any known model writes at once
_TOOL_USES = 10  # of the provider's tools, where the request sets no limit
_PIECE = 256 * 1024
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_ANSWERS = ("n", "best_of", "candidateCount", "candidate_count")
_CONFIGS = ("generationConfig", "generation_config")
_MOST_ANSWERS = 10**6
_WORDS = ("messages", "input", "prompt", "contents")  # what a request asks
_USUAL_SERVICE: Mapping[str, Sequence[object]] = {  # costs what the price lists have first
    "service_tier": ("auto", "default", "flex", "standard", "standard_only", "on_demand"),
    "speed": ("standard",),
    "inference_geo": ("global",),
}
_READ = (  # here; others in server_tools
    *("model", "models", "fallbacks", "stream", "stream_options", "include"),
    *(*_LIMITS, *_ANSWERS, *_CONFIGS, *_USUAL_SERVICE),
)

Body = Mapping[str, msgspec.Raw] | bytes


class Asked(msgspec.Struct, kw_only=True):
    """One request, read."""

    body: Body = b""  # the fields of a JSON object, or what is none
    models: tuple[str, ...] = ()  # that it names, in its body or its path
    spends: bool = True  # does a good answer cost tokens?
    stream: bool = False
    server_tools: tuple[str, ...] = ()  # what the provider is to do past the sandbox
    server_tool_uses: int = 0  # at most, or as the gateway assumes
    dearer: str | None = None  # a service that costs more than the listed prices
    reserve: Tokens = msgspec.field(default_factory=Tokens)  # the most that it may cost
    words: int = 0  # bytes of its messages
    media: bool = False  # does it have more than text?
    additions: Mapping[str, bytes] = {}  # fields that the gateway would add -> their JSON

    @property
    def background(self) -> bool:
        """Does the work continue after the answer?"""
        return "background" in self.server_tools


def read_request(route: Route, method: str, body: bytes | bytearray, json: bool, store: bool) -> Asked:
    """``store``: may the provider keep responses? Raises Refusal for what the endpoint could read differently."""
    named = [route.model] if route.model else []
    asked = Asked(models=tuple(named), spends=route.spends, body=b"")
    if not body or (method in READS and not route.by_rule):
        return asked
    fields = _fields(body)
    if fields is None:
        if json or not route.by_rule:
            raise Refusal(400, "the body is not a JSON object")
        asked.body = bytes(body)
    else:
        _no_twins(fields)
        asked.body = fields
        asked.models = tuple(dict.fromkeys([*_models(fields), *named]))
        asked.stream = _value(fields.get("stream")) is True
        asked.dearer = _dearer_service(fields)
        if not route.by_rule:
            asked.server_tools = server_tools.requested(route.protocol, fields)
        asked.additions = dict(_additions(route, fields, asked.stream, store))
    if asked.spends:
        asked.reserve = Tokens(input=len(body), output=_longest_answer(route, fields or {}))
        asked.server_tool_uses = _uses(fields or {}, len(asked.server_tools))
        words = [memoryview(fields[name]) for name in _WORDS if name in fields] if fields else []
        asked.words, asked.media = sum(map(len, words)), fields is None or any(map(has_media, words))
    return asked


def pieces(body: Body) -> Iterator[bytes | memoryview]:
    """A body as it is sent, in pieces that are not copied."""
    if isinstance(body, bytes):
        yield body
        return
    before = b"{"
    for name, raw in body.items():
        yield before + msgspec.json.encode(name) + b":"
        whole = memoryview(raw)
        for start in range(0, len(whole), _PIECE):
            yield whole[start : start + _PIECE]
        before = b","
    yield b"}" if body else b"{}"


def with_additions(body: Body, additions: Mapping[str, bytes]) -> Body:
    """The same body with more fields, or others in their place."""
    if isinstance(body, bytes):
        return body
    return {**body, **{name: msgspec.Raw(value) for name, value in additions.items()}}


def _additions(
    route: Route, fields: Mapping[str, msgspec.Raw], stream: bool, store: bool
) -> Iterator[tuple[str, bytes]]:
    """So that a stream reports its usage, and the provider keeps no response, which is what Responses do by default.

    A response that is not kept is only of use in the next request if its reasoning comes along, encrypted.
    """
    if stream and route.protocol in ("chat", "completions"):
        options = _value(fields.get("stream_options"))
        options = options if isinstance(options, dict) else {}
        if options.get("include_usage") is not True:
            yield "stream_options", msgspec.json.encode({**options, "include_usage": True})
    responds = route.protocol == "responses" and route.spends
    if responds and not store and _value(fields.get("store")) is None:
        yield "store", b"false"
        include = _value(fields.get("include"))
        include = include if isinstance(include, list) else []
        if "reasoning.encrypted_content" not in include:
            yield "include", msgspec.json.encode([*include, "reasoning.encrypted_content"])


def _fields(body: bytes | bytearray) -> dict[str, msgspec.Raw] | None:
    try:
        body.decode()  # what is not read here is not checked by msgspec
        return _FIELDS.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _no_twins(fields: Mapping[str, msgspec.Raw]) -> None:
    """``Model`` beside ``model``: some servers take one, some the other."""
    read = {name.casefold(): name for name in (*_READ, *server_tools.FIELDS)}
    for field in fields:
        if (name := read.get(field.casefold())) is not None and field != name:
            raise Refusal(400, f"a field is written otherwise than {name!r}")


def _value(raw: msgspec.Raw | None) -> Any:
    """The value of a small field. Raises Refusal for JSON that is no value, such as 1e400."""
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except msgspec.MsgspecError as error:
        raise Refusal(400, f"the body cannot be read: {error}") from None
    except RecursionError:  # Python 3.14 decodes deeper values in some threads than in others
        raise Refusal(400, "the request is nested too deeply") from None


def _models(fields: Mapping[str, msgspec.Raw]) -> list[str]:
    """Every model that may answer, fallbacks too."""
    fallbacks = _value(fields.get("fallbacks"))  # Messages: a list of tables, or the word "default"
    listed = fallbacks if isinstance(fallbacks, list) else [fallbacks] if fallbacks else []
    others = [item.get("model") if isinstance(item, dict) else item for item in listed]
    names = []
    for value in (_value(fields.get("model")), _value(fields.get("models")), others):
        for item in value if isinstance(value, list) else [value]:
            if item and not isinstance(item, str):
                raise Refusal(400, "the model's name is not text")
            names += [item] if item else []
    return names


def _longest_answer(route: Route, fields: Mapping[str, msgspec.Raw]) -> int:
    """Tokens: what the request allows, for each of the answers that it asks for.

    Raises Refusal for numbers that an endpoint could read differently, such as "1000".
    """
    if route.protocol == "embeddings":
        return 0
    configs = [_value(fields.get(name)) for name in _CONFIGS]
    tables = [fields, *(config for config in configs if isinstance(config, dict))]
    limits = [number for table in tables for name in _LIMITS if (number := _whole(table, name)) is not None]
    answers = [number for table in tables for name in _ANSWERS if (number := _whole(table, name)) is not None]
    if not all(1 <= number <= _MOST_ANSWERS for number in answers):
        raise Refusal(400, f"a request is for 1 to {_MOST_ANSWERS:,} answers")
    longest = [number if number > 0 else LONGEST_ANSWER for number in limits]  # -1: no limit, at some endpoints
    prompts = _value(fields.get("prompt")) if route.protocol == "completions" else None
    return (
        max(longest, default=LONGEST_ANSWER)
        * max(answers, default=1)
        * (len(prompts) if isinstance(prompts, list) else 1)
    )


def _whole(table: Mapping[str, Any], name: str) -> int | None:
    value = table.get(name)
    value = _value(value) if isinstance(value, msgspec.Raw) else value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        raise Refusal(400, f"{name} is not a whole number")
    return int(value)


def _dearer_service(fields: Mapping[str, msgspec.Raw]) -> str | None:
    for name, usual in _USUAL_SERVICE.items():
        if (value := _value(fields.get(name))) is not None and value not in usual:
            return f"{name} {value}"
    return None


def _counts(value: object) -> list[int]:
    value = _value(value) if isinstance(value, msgspec.Raw) else value
    return [value] if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else []


def _uses(fields: Mapping[str, msgspec.Raw], tools: int) -> int:
    """How often the provider may use its tools."""
    if tools and (limit := _counts(fields.get("max_tool_calls"))):
        return limit[0]
    given = _value(fields.get("tools")) if tools else None
    limits = [limit for tool in given or () if isinstance(tool, dict) for limit in _counts(tool.get("max_uses"))]
    return sum(limits) + _TOOL_USES * max(0, tools - len(limits))
