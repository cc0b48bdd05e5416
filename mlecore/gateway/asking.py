"""What a request asks for: the models that it names, and whether its answer is a stream that can report its usage.

A JSON body is sent on as it was read here, field by field, so that no server gets a repeated field, which it might read
differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

import msgspec

from .refusals import Refusal

_IN_PATH = re.compile(r"/(?:deployments|models|engines)/(.+?)(?=[:/][^/]*$|/)")  # Azure, Gemini, the oldest of OpenAI
_SPENDS_NOTHING = re.compile(
    r".*/(?:files|uploads|uploads/[^/]+/(?:parts|complete|cancel)|responses/[^/]+/cancel|tokenize|detokenize)"
)
_COUNTS_ONLY = re.compile(r".*(?:/count_tokens|:countTokens|/input_tokens)")
_REPORTS_IF_ASKED = re.compile(r".*/(?:chat/)?completions")
_READS = ("GET", "HEAD", "OPTIONS", "DELETE")
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Asked(msgspec.Struct, kw_only=True):
    """One request, read."""

    models: tuple[str, ...] = ()  # that it names, in its body or its path
    spends: bool = True  # does a good answer cost tokens?
    stream: bool = False
    background: bool = False  # the work continues after the answer
    readable: bool = True  # is the body what the gateway can read a model from?
    body: bytes = b""
    with_usage: bytes | None = None  # the same body, with a request for a usage report added


def read_request(method: str, path: str, body: bytes, json: bool) -> Asked:
    """Raises Refusal for what the endpoint could read differently."""
    plain = unquote(path)
    named = [] if method in _READS else [found[1] for found in _IN_PATH.finditer(plain)][:1]
    asked = Asked(
        models=tuple(named),
        spends=method not in _READS and not _SPENDS_NOTHING.fullmatch(plain) and not _COUNTS_ONLY.fullmatch(plain),
        body=body,
    )
    if not body:
        return asked
    fields = _fields(body)
    if fields is None:
        if json:
            raise Refusal(400, "the body is not a JSON object")
        asked.readable = False
        return asked
    _no_twins(fields)
    asked.body = msgspec.json.encode(fields)
    asked.models = tuple(dict.fromkeys([*_text(fields.get("model")), *_text(fields.get("models")), *named]))
    asked.stream = _value(fields.get("stream")) is True
    asked.background = bool(_value(fields.get("background")))
    if asked.stream and _REPORTS_IF_ASKED.fullmatch(plain):
        options = _value(fields.get("stream_options"))
        options = options if isinstance(options, dict) else {}
        if options.get("include_usage") is not True:
            options = {**options, "include_usage": True}
            asked.with_usage = msgspec.json.encode({**fields, "stream_options": options})
    return asked


def _fields(body: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return _FIELDS.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _no_twins(fields: Mapping[str, msgspec.Raw]) -> None:
    """``Model`` beside ``model``: some servers take one, some the other."""
    for name in ("model", "models", "stream", "stream_options", "background"):
        if any(field != name and field.casefold() == name for field in fields):
            raise Refusal(400, f"a field is written otherwise than {name!r}")


def _value(raw: msgspec.Raw | None) -> object:
    """Of a small field; the body has been read once, so it is JSON."""
    return None if raw is None else msgspec.json.decode(raw)


def _text(raw: msgspec.Raw | None) -> list[str]:
    value = _value(raw)
    values = value if isinstance(value, list) else [value]
    names = [item for item in values if isinstance(item, str) and item]
    if any(item for item in values if not isinstance(item, str)):
        raise Refusal(400, "the model's name is not text")
    return names


def spends_nothing(method: str, path: str) -> bool:
    """May it pass although it names no model?"""
    return method in _READS or bool(_SPENDS_NOTHING.fullmatch(unquote(path)))
