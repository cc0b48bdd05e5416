"""Reads the model and the tokens from a response, streamed or not."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from .calls import Tokens

BODY = 32 * 1024 * 1024  # bytes of one response that are kept until its end, where its usage stands
EVENT = 8 * 1024 * 1024  # bytes of one event of a stream; Responses repeat the whole answer in their last one

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_NO_USAGE_YET = re.compile(rb',\s*"usage"\s*:\s*null')


class _Answer(msgspec.Struct):
    """The fields that are read, of every protocol; the rest is skipped."""

    model: msgspec.Raw = msgspec.Raw()
    modelVersion: msgspec.Raw = msgspec.Raw()  # noqa: N815 - Gemini's names
    usage: msgspec.Raw = msgspec.Raw()
    usageMetadata: msgspec.Raw = msgspec.Raw()  # noqa: N815
    response: msgspec.Raw = msgspec.Raw()  # Responses: what an event is about
    message: msgspec.Raw = msgspec.Raw()  # Messages: what a stream begins with
    choices: msgspec.Raw = msgspec.Raw()
    type: msgspec.Raw = msgspec.Raw()
    service_tier: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_ANSWER = msgspec.json.Decoder(_Answer)
_ANSWERS = msgspec.json.Decoder(list[_Answer])


class Report:
    """What is known about an answer so far."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.tier: str | None = None
        self._usage: dict[str, Any] = {}
        self._final = False
        self.error = False  # instead of an answer, or of the rest of it
        self.pieces = 0  # events of a stream, of which a model makes about one a token

    @property
    def tokens(self) -> Tokens | None:
        """None while nothing final has been reported."""
        return _tokens(self._usage) if self._final else None

    @property
    def input_so_far(self) -> int | None:
        """Anthropic reports the input first, and the output at the end."""
        return _tokens(self._usage).input if self._usage else None

    def read(self, text: bytes) -> _Answer | None:
        """Take in a body, or the data of an event."""
        try:
            if text[:1] == b"[":  # Gemini streams an array unless events are requested
                answers = _ANSWERS.decode(text)
            else:
                answers = [_ANSWER.decode(text)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        for answer in answers:
            self._take(answer)
        return answers[-1] if answers else None

    def _take(self, answer: _Answer) -> None:
        kind = _plain(answer.type)
        for inner in (_inner(answer.response), _inner(answer.message), answer):
            if inner is None:
                continue
            model = _plain(inner.model) or _plain(inner.modelVersion)
            self.model = model if isinstance(model, str) else self.model
            tier = _plain(inner.service_tier)
            self.tier = tier if isinstance(tier, str) else self.tier
            self.error |= _begins(inner.error) == b"{"
            usage = _plain(inner.usage) or _plain(inner.usageMetadata)
            if isinstance(usage, dict):
                self._usage.update({key: value for key, value in usage.items() if value is not None})
                self._final = kind != "message_start"


def _plain(raw: msgspec.Raw) -> Any:
    return msgspec.json.decode(raw) if _begins(raw) else None


def _begins(raw: msgspec.Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


def _inner(raw: msgspec.Raw) -> _Answer | None:
    try:
        return _ANSWER.decode(raw) if _begins(raw) == b"{" else None
    except msgspec.MsgspecError:
        return None


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """Of any protocol's report."""

    def number(*names: str) -> int:
        for name in names:
            value: Any = usage
            for part in name.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12:
                return value
        return 0

    cached = number("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens")
    apart = number("cache_read_input_tokens")  # Anthropic's input does not include them
    written = number("cache_creation_input_tokens")
    thoughts = number("thoughtsTokenCount")  # Gemini's output does not include them
    tokens = Tokens(
        input=number("prompt_tokens", "input_tokens", "promptTokenCount") + apart + written,
        output=number("completion_tokens", "output_tokens", "candidatesTokenCount") + thoughts,
        cached=cached + apart + number("cachedContentTokenCount"),
        cache_write=written,
        reasoning=number("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens")
        + thoughts,
    )
    tokens.cached = min(tokens.cached, tokens.input - written)
    return tokens


class Body:
    """A response that is not a stream: it is read when it is complete."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size <= BODY:
            self._parts.append(piece)
        else:
            self._parts.clear()
        return piece

    def rest(self) -> bytes:
        if self._size <= BODY:
            self._report.read(b"".join(self._parts))
        return b""


class Events:
    """A stream of server-sent events. ``hide``: without the report that the client did not ask for."""

    def __init__(self, report: Report, hide: bool) -> None:
        self._report = report
        self._hide = hide
        self._held = b""
        self._skipping = False  # an event that is too large to be read

    def feed(self, piece: bytes) -> bytes:
        """What the client gets: all of it at once, or the complete events."""
        data = self._held + piece
        out: list[bytes] = []
        start = 0
        for end in _END.finditer(data, max(0, len(self._held) - 3)):
            out.append(self._event(data[start : end.end()]))
            start = end.end()
        self._held = data[start:]
        if len(self._held) > EVENT:
            self._skipping = True
            out.append(self._held)
            self._held = b""
        return b"".join(out) if self._hide else piece

    def rest(self) -> bytes:
        held, self._held = self._event(self._held), b""
        return held if self._hide else b""

    def _event(self, event: bytes) -> bytes:
        if self._skipping:
            self._skipping = False
            return event
        if b"data:" not in event:
            return event
        self._report.pieces += 1
        if b'"usage' not in event and b'"error"' not in event and self._report.model is not None:
            return event
        answer = self._report.read(_data(event))
        if not self._hide or answer is None:
            return event
        if bytes(memoryview(answer.choices)[:9]).replace(b" ", b"") == b"[]" and _begins(answer.usage) == b"{":
            return b""
        return _NO_USAGE_YET.sub(b"", event)


def _data(event: bytes) -> bytes:
    lines = event.splitlines()
    return b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))


class Unreadable(Exception):
    """The response has an encoding that was not asked for, or is damaged."""


def decoder(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """Decompresses a response in pieces, none of them large. Raises Unreadable."""
    if encoding in ("", "identity"):
        return lambda piece: iter((piece,))
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable(f"the endpoint answered in {encoding!r}, which was not asked for")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def decode(piece: bytes) -> Iterator[bytes]:
        left = piece
        while left:
            try:
                out = inflate.decompress(left, 256 * 1024)
            except zlib.error as error:
                raise Unreadable(f"the endpoint's response does not decompress: {error}") from None
            if out:
                yield out
            left = inflate.unconsumed_tail
            if not left and not out:
                return

    return decode
