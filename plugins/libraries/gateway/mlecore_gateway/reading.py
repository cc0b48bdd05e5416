"""Reads the model and the tokens from a response, streamed or not."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from .calls import Tokens
from .failures import Failure, failure_in
from .memory import Memory
from .usage import input_of, text_in, tokens_of

BODY = 32 * 1024 * 1024  # bytes of one response that are kept until its end, where its usage stands
EVENT = 8 * 1024 * 1024  # bytes of one event of a stream; Responses repeat the whole answer in their last one

_END = re.compile(rb"\n\r?\n|\r\r")
_INFLATED = 256 * 1024  # bytes that a piece is decompressed to at once
_MAGIC = b"\x1f\x8b"  # that a member of gzip begins with
_BLANK = b" \t\r\n\xef\xbb\xbf"  # what some servers send before an answer, to keep the connection or as a BOM
_FAILS = (b'"error"', b'"code"', b'"message"', b'"detail"', b'"success"')  # in an error of any shape
_ERROR = 256 * 1024  # bytes; what is larger is no error
_READ = (
    b'"usage',
    b'"error"',
    b'"code"',
    b"server_tool_use",
    b"mcp_tool_use",
)  # in an event; others only repeat the model
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
    output: msgspec.Raw = msgspec.Raw()  # Responses: items, calls of tools among them
    content: msgspec.Raw = msgspec.Raw()  # Messages: blocks, calls of tools among them
    content_block: msgspec.Raw = msgspec.Raw()  # one of them, in a stream
    candidates: msgspec.Raw = msgspec.Raw()  # Gemini
    x_groq: msgspec.Raw = msgspec.Raw()  # Groq: where the last event of a stream has its usage


class _Item(msgspec.Struct):
    """An item of an output, a block of a message, a candidate of Gemini."""

    type: str | None = None
    name: str | None = None
    groundingMetadata: msgspec.Raw = msgspec.Raw()  # noqa: N815


_ITEM = msgspec.json.Decoder(_Item)
_ITEMS = msgspec.json.Decoder(list[_Item])
_ANSWER = msgspec.json.Decoder(_Answer)
_ANSWERS = msgspec.json.Decoder(list[_Answer])


class Report:
    """What is known about an answer so far."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.tier: str | None = None
        self._usage: dict[str, Any] = {}
        self._final = False
        self.failure: Failure | None = None  # instead of an answer, or of the rest of it
        self.pieces = 0  # events of a stream, of which a model makes about one a token
        self.text = 0  # bytes of what the model wrote
        self.size = 0  # bytes of the answer, decompressed
        self._calls = Counter[str]()  # of tools, in blocks of a stream
        self._listed = Counter[str]()  # of tools, in the whole answer

    @property
    def tokens(self) -> Tokens | None:
        """None while nothing final has been reported, or what is no count."""
        return tokens_of(self._usage) if self._final else None

    @property
    def input_so_far(self) -> int | None:
        """Anthropic reports the input first, and the output at the end."""
        return input_of(self._usage)

    @property
    def uses(self) -> dict[str, int]:
        """How often the provider used each of its tools: as its report has it, else as its answer shows."""
        reported = self._usage.get("server_tool_use")
        counts = reported if isinstance(reported, dict) else {}
        named = {str(name).removesuffix("_requests"): n for name, n in counts.items() if isinstance(n, int) and n > 0}
        if isinstance(searches := self._usage.get("num_search_queries"), int):  # Perplexity
            named["web_search"] = searches
        return {**self._calls, **self._listed, **named}

    def read(self, text: bytes) -> _Answer | None:
        """Take in a body, or the data of an event."""
        if self.failure is None and len(text) <= _ERROR and any(sign in text for sign in _FAILS):
            self.failure = failure_in(text)
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
        if (block := _item(answer.content_block)) is not None:
            self._calls.update(_used(block))
        for inner in (*map(_inner, (answer.response, answer.message, answer.x_groq)), answer):
            if inner is None:
                continue
            model = _plain(inner.model) or _plain(inner.modelVersion)
            self.model = model if isinstance(model, str) else self.model
            tier = _plain(inner.service_tier)
            self.tier = tier if isinstance(tier, str) else self.tier
            if listed := [*_items(inner.output), *_items(inner.content), *_items(inner.candidates)]:
                self._listed |= Counter(name for item in listed for name in _used(item))
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


def _item(raw: msgspec.Raw) -> _Item | None:
    try:
        return _ITEM.decode(raw) if _begins(raw) == b"{" else None
    except msgspec.MsgspecError:
        return None


def _items(raw: msgspec.Raw) -> list[_Item]:
    try:
        return _ITEMS.decode(raw) if _begins(raw) == b"[" else []
    except msgspec.MsgspecError:
        return []


def _used(item: _Item) -> Iterator[str]:
    """The tool that an item is a call of, once for each use; tools of the client among them."""
    if item.type == "server_tool_use" and item.name:
        yield item.name.removeprefix("bash_").removeprefix("text_editor_")[:60]
    elif item.type == "mcp_tool_use":
        yield "mcp"
    elif item.type and item.type.endswith("_call"):
        yield item.type.removesuffix("_call")[:60]
    elif _begins(item.groundingMetadata) == b"{":
        queries = _plain(item.groundingMetadata).get("webSearchQueries")
        yield from ["google_search"] * (len(queries) if isinstance(queries, list) else 0)


class Body:
    """A response that is not a stream: it is read when it is complete, if there is room to keep it until then."""

    def __init__(self, report: Report, memory: Memory) -> None:
        self._report = report
        self._memory = memory
        self._parts: list[bytes] = []
        self._size = 0
        self._whole = True

    @property
    def begun(self) -> bool:
        """Does what came show that it is an answer? Gemini streams an array of them."""
        return bool(self._parts) and self._parts[0].startswith(b"[") and b'"candidates"' in b"".join(self._parts)

    def feed(self, piece: bytes) -> bytes:
        self._whole = self._whole and self._size + len(piece) <= BODY and self._memory.try_take(len(piece))
        if self._whole:
            self._parts.append(piece)
            self._size += len(piece)
        else:
            self._forget()
        return piece

    def rest(self) -> bytes:
        if self._whole:
            body = b"".join(self._parts)
            self._report.text += text_in(body)
            self._report.read(body)
            if body.startswith(b"<"):
                self._report.failure = Failure(502, "a web page")
        self._forget()
        return b""

    def _forget(self) -> None:
        self._memory.give_back(self._size)
        self._parts.clear()
        self._size = 0


class Events:
    """A stream of server-sent events. ``hide``: without the report that the client did not ask for."""

    def __init__(self, report: Report, hide: bool) -> None:
        self._report = report
        self._hide = hide
        self._held = b""
        self._skipping = False  # an event that is too large to be read

    @property
    def begun(self) -> bool:
        return self._report.pieces > 0

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
        if not (data := _data(event)):
            return event
        self._report.pieces += 1
        self._report.text += text_in(event)
        if self._report.model is not None and not any(sign in event for sign in _READ):
            return event
        answer = self._report.read(b"\n".join(data))
        if answer is None and len(data) > 1:  # events without an empty line between them
            for line in data:
                self._report.read(line)
        if not self._hide or answer is None:
            return event
        if bytes(answer.choices).replace(b" ", b"") in (b"", b"[]", b"null") and _begins(answer.usage) == b"{":
            return b""
        return _NO_USAGE_YET.sub(b"", event)


def _data(event: bytes) -> list[bytes]:
    """The lines of its data."""
    return [line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")] if b"data:" in event else []


class Incoming:
    """A response as it comes, a stream or not: some servers send either where the other is announced."""

    def __init__(self, report: Report, memory: Memory, *, events: bool, hide: bool) -> None:
        self._report = report
        self._memory = memory
        self._events = events  # is a stream announced, or was one asked for?
        self._hide = hide
        self._reader: Body | Events | None = None  # None: nothing but blanks came
        self._seen = 0

    @property
    def begun(self) -> bool:
        """Does what came show that it is an answer?"""
        return self._reader is not None and self._reader.begun

    @property
    def heard(self) -> int:
        """How much of an answer came: events, or bytes. Comments and blanks are no part of one."""
        return self._report.pieces if isinstance(self._reader, Events) else self._report.size

    def progress(self) -> bool:
        """Has more of an answer come since this was last asked?"""
        before, self._seen = self._seen, self.heard
        return self._seen > before

    def feed(self, piece: bytes) -> bytes:
        """What the client gets."""
        if self._reader is not None:
            self._report.size += len(piece)
            return self._reader.feed(piece)
        if not (rest := piece.lstrip(_BLANK)):
            return piece
        self._report.size += len(rest)
        if rest.startswith((b"{", b"[", b"<")) or not (self._events or rest.startswith((b"data:", b"event:", b":"))):
            self._reader = Body(self._report, self._memory)
        else:
            self._reader = Events(self._report, self._hide)
        return piece[: len(piece) - len(rest)] + self._reader.feed(rest)

    def rest(self) -> bytes:
        """The end of what the client gets."""
        return b"" if self._reader is None else self._reader.rest()


class Unreadable(Exception):
    """The response has an encoding that was not asked for, or is damaged."""


def decoder(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """Decompresses a response in pieces, none of them large. Raises Unreadable."""
    if encoding in ("", "identity"):
        return lambda piece: iter((piece,))
    if encoding not in ("gzip", "x-gzip"):
        raise Unreadable(f"the endpoint answered in {encoding!r}, which was not asked for")
    return _Gzip().decode


class _Gzip:
    """Gzip of any number of members. What follows the last is passed on as it is: some clients may show it."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._ended = False  # has the member ended?
        self._over = False  # is what follows it no gzip?
        self._held = b""  # may be the first byte of another member

    def decode(self, piece: bytes) -> Iterator[bytes]:
        left = self._held + piece
        self._held = b""
        while left:
            if self._ended and not self._over:
                if left == _MAGIC[:1]:
                    self._held = left
                    return
                self._over = not left.startswith(_MAGIC)
                self._member, self._ended = zlib.decompressobj(zlib.MAX_WBITS | 16), False
            if self._over:
                yield left
                return
            more = True
            while more and not self._member.eof:
                if out := self._inflate(left):
                    yield out
                left = self._member.unconsumed_tail
                more = bool(left) or len(out) == _INFLATED  # it may hold some back
            self._ended = self._member.eof
            left = self._member.unused_data

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._member.decompress(data, _INFLATED)
        except zlib.error as error:
            raise Unreadable(f"the endpoint's response does not decompress: {error}") from None
